// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/state/make_device.h"

#include <gtest/gtest.h>

namespace lockstep::cuda {
namespace {

RunOptions cycle(const std::string& file, const std::string& window = "",
                 const std::string& sms = "") {
    RunOptions options;
    options.trace_file = file;
    options.trace_window = window;
    options.trace_sms = sms;
    return options;
}

TEST(MakeDevice, OptionsReachTheDevice) {
    RunOptions options = cycle("t.json", "100:200", "2-5");
    options.threads = 3;
    options.seed = 7;
    options.max_instructions = 9;
    options.quiet = true;
    options.l2 = "warm";
    const DeviceOptions device = device_options(options);
    EXPECT_EQ(device.threads, 3u);
    EXPECT_EQ(device.seed, 7u);
    EXPECT_EQ(device.max_instructions, 9u);
    EXPECT_FALSE(device.progress);
    EXPECT_EQ(device.l2, L2Start::kWarm);
    EXPECT_EQ(device.trace.file, "t.json");
    EXPECT_EQ(device.trace.from, 100u);
    EXPECT_EQ(device.trace.until, 200u);
    EXPECT_EQ(device.trace.first_sm, 2u);
    EXPECT_EQ(device.trace.last_sm, 5u);
}

TEST(MakeDevice, PartsOfATraceWindowMayBeLeftOut) {
    EXPECT_EQ(device_options(cycle("t.kanata", ":200")).trace.from, 0u);
    EXPECT_EQ(device_options(cycle("t.kanata", "100:")).trace.until, ~0ull);
    EXPECT_EQ(device_options(cycle("t.kanata", "", "3")).trace.first_sm, 3u);
    EXPECT_EQ(device_options(cycle("t.kanata", "", "3")).trace.last_sm, 3u);
    EXPECT_EQ(device_options({}).l2, L2Start::kCold);
}

TEST(MakeDevice, RefusesWhatDoesNotGoTogether) {
    for (const RunOptions& options :
         {cycle("t.txt"), cycle("t.json", "200:100"), cycle("t.json", "100"),
          cycle("t.json", "a:b"), cycle("t.json", "", "5-2"), cycle("t.json", "", "x"),
          cycle("", "1:2")})
        EXPECT_THROW(device_options(options), InputError);
    RunOptions emulate = cycle("t.json");
    emulate.mode = "emulate";
    EXPECT_THROW(device_options(emulate), InputError);
    emulate.trace_file.clear();
    EXPECT_NO_THROW(device_options(emulate));
    emulate.l2 = "warm";
    EXPECT_THROW(device_options(emulate), InputError);
}

TEST(MakeDevice, TheModeChoosesTheDevice) {
    RunOptions options;
    options.machine = "t4";
    options.mode = "emulate";
    EXPECT_EQ(make_device(options)->machine().name(), "t4");
    options.overrides = {"sm.cont=2"};
    EXPECT_THROW(make_device(options), InputError);
}

}  // namespace
}  // namespace lockstep::cuda
