// SPDX-License-Identifier: Apache-2.0
#include "models/tpu/systolic/schedule.h"

#include <gtest/gtest.h>

#include "models/tpu/systolic/scalesim.h"
#include "sim/error/error.h"

namespace lockstep::tpu {
namespace {

constexpr ArrayShape kWs{8, 6, Dataflow::kWeightStationary};
constexpr ArrayShape kOs{8, 6, Dataflow::kOutputStationary};

TEST(Schedule, OneTile) {
    const TileTiming ws = tile_timing(kWs, Overlap::kNone, 10);
    EXPECT_EQ(ws.load, 8);
    EXPECT_EQ(ws.first_result, 16);               // loaded after 8, through 8 rows
    EXPECT_EQ(ws.latency(), 2 * 8 + 6 + 10 - 2);  // SCALE-Sim's 2R + C + T - 2
    const TileTiming os = tile_timing(kOs, Overlap::kNone, 10);
    EXPECT_EQ(os.load, 0);
    EXPECT_EQ(os.unload, 8);
    EXPECT_EQ(os.latency(), 2 * 8 + 6 + 10 - 2);  // the paper's form, which its code cuts short
}

TEST(Schedule, OverlapShortensTheInterval) {
    EXPECT_EQ(tile_timing(kWs, Overlap::kNone, 10).interval, 30);
    EXPECT_EQ(tile_timing(kWs, Overlap::kDrain, 10).interval, 18);
    EXPECT_EQ(tile_timing(kWs, Overlap::kDouble, 10).interval, 10);
    EXPECT_EQ(tile_timing(kWs, Overlap::kDouble, 3).interval, 8);  // bound by the weights
    EXPECT_EQ(total_cycles(kWs, Overlap::kDouble, 10, 4), 3 * 10 + 30);
    EXPECT_EQ(total_cycles(kWs, Overlap::kDouble, 10, 0), 0);
}

TEST(Schedule, SerialFoldsAreOneCycleMoreThanScaleSimCounts) {
    const GemmShape gemm{20, 13, 30};
    for (const Dataflow dataflow : {Dataflow::kWeightStationary, Dataflow::kInputStationary}) {
        const ArrayShape array{8, 6, dataflow};
        const Folding f = fold(array, gemm);
        EXPECT_EQ(total_cycles(array, Overlap::kNone, f.stream, f.folds()),
                  scalesim_metrics(array, gemm).total_cycles + 1);
    }
    // os: SCALE-Sim does not wait for the results to leave, rows cycles a fold.
    const Folding f = fold(kOs, gemm);
    EXPECT_EQ(total_cycles(kOs, Overlap::kNone, f.stream, f.folds()),
              scalesim_metrics(kOs, gemm).total_cycles + 1 + f.folds() * kOs.rows);
}

TEST(Schedule, OverlapsAreThoseOfOtherSimulators) {
    const std::int64_t side = 128, stream = 256, tiles = 12;
    const ArrayShape array{side, side, Dataflow::kWeightStationary};
    const std::int64_t skew = 2 * side - 2;
    // SCALE-Sim v1: 12 folds of 128 + 256 cycles, 4608 in all; it does not count the last skew.
    EXPECT_EQ(total_cycles(array, Overlap::kDrain, stream, tiles), 4608 + skew);
    // ONNXim: 2 side - 1 to load an empty array, max(stream, side) from tile to tile, then the
    // pipe. It loads row by row through the skew before it starts; the wave needs but `side` for
    // that.
    const std::int64_t onnxim = 2 * side - 1 + (tiles - 1) * std::max(stream, side) + skew + stream;
    EXPECT_EQ(total_cycles(array, Overlap::kDouble, stream, tiles), onnxim - (side - 1));
}

TEST(Schedule, NamesAreChecked) {
    EXPECT_EQ(parse_dataflow("os"), Dataflow::kOutputStationary);
    EXPECT_EQ(parse_overlap("double"), Overlap::kDouble);
    EXPECT_THROW(parse_dataflow("rs"), InputError);
    EXPECT_THROW(parse_overlap("all"), InputError);
}

TEST(ScaleSim, RoundsOutputSizesUp) {
    EXPECT_EQ((ScaleSimAxis{230, 7, 2}.output()), 113);  // 112 everywhere else
    EXPECT_EQ((ScaleSimAxis{57, 3, 2}.output()), 28);
    EXPECT_EQ((ScaleSimAxis{13, 3, 3}.output()), 5);
    EXPECT_EQ((ScaleSimAxis{13, 3, 3}.covered()), 13);  // the fifth window reaches beyond
    EXPECT_EQ((ScaleSimAxis{11, 2, 3}.covered()), 8);   // a gap after each pair
    EXPECT_EQ((ScaleSimAxis{7, 3, 1}.covered()), 7);
    EXPECT_EQ((ScaleSimAxis{4, 2, 5}.covered()), 2);  // the second window is all beyond
}

}  // namespace
}  // namespace lockstep::tpu
