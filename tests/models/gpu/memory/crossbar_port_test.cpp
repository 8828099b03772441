// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/models/gpu/memory/synthetic_sm.h"

namespace lockstep::gpu {
namespace {

TEST(CrossbarPort, AnswersAfterTheLatencyOfAnL2Hit) {
    MemoryBench bench("h200");
    bench.latency({.line = 5, .sectors = 1});
    EXPECT_EQ(bench.latency({.line = 5, .sectors = 1}),
              static_cast<engine::Cycle>(bench.machine->integer("l2.hit_latency")));
}

TEST(CrossbarPort, SendsAndReceivesItsBandwidth) {
    MemoryBench bench("v100", 1,
                      {"crossbar.request_bandwidth=32", "crossbar.store_request=32",
                       "crossbar.reply_bandwidth=64"});
    SyntheticSm& sm = *bench.sms[0];
    for (std::uint64_t i = 0; i < 64; ++i)
        sm.requests.push_back({.line = 4 * i, .kind = RequestKind::kWrite, .sectors = 0xf});
    bench.run();
    for (std::size_t i = 1; i < 64; ++i) EXPECT_EQ(sm.answers[i].sent - sm.answers[i - 1].sent, 4u);
    for (std::uint64_t i = 0; i < 64; ++i) sm.requests.push_back({.line = 4 * i, .sectors = 0xf});
    bench.run();
    engine::Cycle last = 0;
    for (std::size_t i = 65; i < 128; ++i) {
        EXPECT_EQ(sm.answers[i].sent - sm.answers[i - 1].sent, 1u);
        last = std::max(last, sm.answers[i].answered);
    }
    EXPECT_NEAR(static_cast<double>(last - sm.answers[64].answered), 2 * 63, 2);
}

TEST(CrossbarPort, SendsTheSectorsOfAPartialWrite) {
    MemoryBench bench("v100", 1, {"crossbar.request_bandwidth=16", "crossbar.store_request=16"});
    SyntheticSm& sm = *bench.sms[0];
    for (std::uint64_t i = 0; i < 9; ++i)
        sm.requests.push_back({.line = 4 * i,
                               .halves = 0x000f'000f'000f'000f,
                               .kind = RequestKind::kWrite,
                               .sectors = 0xf,
                               .partial = 0xf});
    bench.run();
    for (std::size_t i = 1; i < 9; ++i) EXPECT_EQ(sm.answers[i].sent - sm.answers[i - 1].sent, 8u);
}

TEST(CrossbarPort, SendsNoStoreInLessThanARequestTakes) {
    MemoryBench bench("v100", 1, {"crossbar.request_bandwidth=32", "crossbar.store_request=160"});
    SyntheticSm& sm = *bench.sms[0];
    for (std::uint64_t i = 0; i < 9; ++i)
        sm.requests.push_back({.line = 4 * i,
                               .halves = 0x3,
                               .kind = RequestKind::kWrite,
                               .sectors = 1,
                               .partial = 1});
    for (std::uint64_t i = 0; i < 9; ++i) sm.requests.push_back({.line = 4 * i, .sectors = 1});
    bench.run();
    for (std::size_t i = 1; i < 9; ++i) EXPECT_EQ(sm.answers[i].sent - sm.answers[i - 1].sent, 5u);
    EXPECT_EQ(sm.answers[17].sent - sm.answers[9].sent, 8u);  // reads bring nothing
}

TEST(CrossbarPort, LimitsWhatIsNotAnswered) {
    MemoryBench bench("v100", 1, {"crossbar.outstanding=4"});
    SyntheticSm& sm = *bench.sms[0];
    for (int i = 0; i < 9; ++i) sm.requests.push_back({.line = 0, .sectors = 1});
    bench.run();
    EXPECT_EQ(sm.answers[3].sent, sm.answers[0].sent + 3);
    EXPECT_EQ(sm.answers[4].sent, sm.answers[0].answered);
    EXPECT_EQ(sm.port.outstanding(), 0u);
}

}  // namespace
}  // namespace lockstep::gpu
