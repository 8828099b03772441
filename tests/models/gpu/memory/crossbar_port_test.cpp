// SPDX-License-Identifier: Apache-2.0
#include "tests/models/gpu/memory/synthetic_sm.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

TEST(CrossbarPort, AnswersAfterTheLatencyOfAnL2Hit) {
    MemoryBench bench("h200");
    bench.latency({.line = 5, .sectors = 1});
    EXPECT_EQ(bench.latency({.line = 5, .sectors = 1}),
              static_cast<engine::Cycle>(bench.machine->integer("l2.hit_latency")));
}

}  // namespace
}  // namespace lockstep::gpu
