// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/state/device_properties.h"

#include <gtest/gtest.h>

namespace lockstep::cuda {
namespace {

TEST(DeviceProperties, AreThoseOfTheMachine) {
    const auto properties = DeviceProperties::from_machine(*config::Machine::load("h200"));
    EXPECT_EQ(properties.name, "NVIDIA H200");
    EXPECT_EQ(properties.attribute(16), 132);         // multiprocessors
    EXPECT_EQ(properties.attribute(13), 1980000);     // clock, kHz
    EXPECT_EQ(properties.attribute(75), 9);           // major
    EXPECT_EQ(properties.attribute(97), 227 * 1024);  // shared memory a block may opt in to
    EXPECT_EQ(properties.attribute(111), 1024);
    EXPECT_EQ(properties.attribute(0), std::nullopt);
    EXPECT_EQ(properties.attribute(1000), std::nullopt);
}

TEST(DeviceProperties, BothLayoutsSayTheSame) {
    const auto properties = DeviceProperties::from_machine(*config::Machine::load("a100"));
    abi::DeviceProp12 twelve;
    abi::DeviceProp13 thirteen;
    properties.fill(twelve);
    properties.fill(thirteen);
    EXPECT_STREQ(twelve.name, thirteen.name);
    EXPECT_EQ(twelve.major, 8);
    EXPECT_EQ(thirteen.major, 8);
    EXPECT_EQ(twelve.multiProcessorCount, 108);
    EXPECT_EQ(thirteen.multiProcessorCount, 108);
    EXPECT_EQ(twelve.reservedSharedMemPerBlock, thirteen.reservedSharedMemPerBlock);
    EXPECT_EQ(twelve.totalGlobalMem, properties.memory_bytes);
    EXPECT_EQ(twelve.clockRate, properties.clock_khz);
}

TEST(DeviceProperties, EveryGpuHasThem) {
    for (const std::string& name : config::Machine::names()) {
        const auto machine = config::Machine::load(name);
        if (machine->kind() != "gpu") continue;
        const auto properties = DeviceProperties::from_machine(*machine);
        EXPECT_GE(properties.arch, 70) << name;
        EXPECT_GT(properties.shared_per_block_optin, 0u) << name;
        EXPECT_GT(properties.memory_bytes, 0u) << name;
    }
}

}  // namespace
}  // namespace lockstep::cuda
