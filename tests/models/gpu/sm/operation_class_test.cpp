// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/operation_class.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

using sass::Op;
using P = sass::table::Pipe;

// What Nsight Compute counted on an RTX 2080 Ti: MUFU is FP32's, BMOV and S2R are miscellany, and
// nothing of the uniform datapath is a thread's instruction.
TEST(LaneWork, IsAsNsightComputeCounts) {
    EXPECT_EQ(lane_work_of(P::kVariable, Op::kMufu), LaneWork::kFp32);
    EXPECT_EQ(lane_work_of(P::kFma, Op::kFfma), LaneWork::kFp32);
    EXPECT_EQ(lane_work_of(P::kFma, Op::kImad), LaneWork::kInteger);
    EXPECT_EQ(lane_work_of(P::kAlu, Op::kIsetp), LaneWork::kInteger);
    EXPECT_EQ(lane_work_of(P::kAlu, Op::kFsetp), LaneWork::kFp32);
    EXPECT_EQ(lane_work_of(P::kVariable, Op::kI2f), LaneWork::kConversion);
    EXPECT_EQ(lane_work_of(P::kAlu, Op::kMov), LaneWork::kMisc);
    EXPECT_EQ(lane_work_of(P::kBranch, Op::kBmovX156), LaneWork::kMisc);
    EXPECT_EQ(lane_work_of(P::kVariable, Op::kS2r), LaneWork::kMisc);
    EXPECT_EQ(lane_work_of(P::kBranch, Op::kBra), LaneWork::kControl);
    EXPECT_EQ(lane_work_of(P::kMemory, Op::kLdg), LaneWork::kMemory);
    EXPECT_EQ(lane_work_of(P::kMemory, Op::kBar), LaneWork::kMisc);
    EXPECT_EQ(lane_work_of(P::kHalf, Op::kHfma2), LaneWork::kFp16);
    EXPECT_EQ(lane_work_of(P::kDouble, Op::kDfma), LaneWork::kFp64);
    EXPECT_EQ(lane_work_of(P::kAlu, Op::kPlop3X1c), LaneWork::kNone);
    EXPECT_EQ(lane_work_of(P::kUniform, Op::kUiadd3X90), LaneWork::kNone);
    EXPECT_EQ(lane_work_of(P::kTensor, Op::kHmma), LaneWork::kNone);
}

}  // namespace
}  // namespace lockstep::gpu
