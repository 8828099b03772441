// SPDX-License-Identifier: Apache-2.0
// Chains of tiles in the core take the time and move the elements of the array's closed form,
// whatever it holds.
#include <gtest/gtest.h>

#include "isa/tpu/builder.h"
#include "models/tpu/systolic/array.h"
#include "models/tpu/tpu.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"

namespace lockstep::tpu {
namespace {

using enum Field;

/// m x n x k in bf16 on one array, weights in the unified buffer; folds in the array's order.
Program product(const ArrayShape& array, const GemmShape& gemm) {
    const Folding f = fold(array, gemm);
    const Dataflow dataflow = array.dataflow;
    ProgramBuilder builder(2);
    const auto pass = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool first) {
        const auto part = [](std::int64_t all, std::int64_t index, std::int64_t size) {
            return std::min(size, all - index * size);
        };
        const std::int64_t rows_of[] = {gemm.m, array.rows, array.columns};
        const std::int64_t rows = part(gemm.m, m, rows_of[static_cast<int>(dataflow)]),
                           columns = part(gemm.n, n, array.columns),
                           lanes = part(gemm.k, k, array.rows);
        const std::int64_t last = (gemm.k + array.rows - 1) / array.rows - 1;
        builder.emit(Opcode::kReadWeights, {{kFrom, WeightSource::kUnifiedBuffer},
                                            {kAddress, 1 << 20},
                                            {kPitch, 256},
                                            {kLanes, lanes},
                                            {kColumns, columns},
                                            {kWeightType, DataType::kBf16}});
        builder.emit(Opcode::kMatrixMultiply,
                     {{kPitch, 256},
                      {kRows, rows},
                      {kLanes, lanes},
                      {kColumns, columns},
                      {kType, DataType::kBf16},
                      {kWeightType, DataType::kBf16},
                      {kSwitchWeights, true},
                      {kAccumulate, k != 0},
                      {kDataflow, dataflow},
                      {kSwitchInputs, dataflow == Dataflow::kInputStationary && first},
                      {kUnload, dataflow == Dataflow::kOutputStationary && k == last}});
    };
    const auto tiles = [](std::int64_t all, std::int64_t size) { return (all + size - 1) / size; };
    for (std::int64_t column = 0; column < f.column_folds; ++column)
        for (std::int64_t row = 0; row < f.row_folds; ++row) switch (dataflow) {
                case Dataflow::kWeightStationary:
                    pass(0, column, row, true);
                    break;
                case Dataflow::kOutputStationary:
                    for (std::int64_t k = 0; k < tiles(gemm.k, array.rows); ++k)
                        pass(row, column, k, true);
                    break;
                case Dataflow::kInputStationary:
                    for (std::int64_t n = 0; n < tiles(gemm.n, array.columns); ++n)
                        pass(column, n, row, n == 0);
                    break;
            }
    return builder.finish();
}

class TpuCoreDataflows : public testing::TestWithParam<const char*> {};

TEST_P(TpuCoreDataflows, ChainsTakeTheClosedForm) {
    const std::string dataflow = GetParam();
    for (const char* overlap : {"none", "drain", "double"})
        for (const char* size : {"16x16", "24x8", "8x24"}) {
            const std::string text = size;
            const auto at = text.find('x');
            const Parameters parameters(*config::Machine::load(
                "tpu_v2",
                {"sequencer.issue_interval=1", "array.weight_fifo=64", "array.dataflow=" + dataflow,
                 std::string("array.overlap=") + overlap, "array.rows=" + text.substr(0, at),
                 "array.columns=" + text.substr(at + 1)}));
            for (const GemmShape& gemm : {GemmShape{1, 1, 1},
                                          {16, 16, 16},
                                          {5, 40, 9},
                                          {70, 9, 20},
                                          {9, 20, 130},
                                          {50, 50, 50},
                                          {100, 3, 3},
                                          {40, 70, 5}}) {
                const Program program = product(parameters.array, gemm);
                Storage storage(program, false);
                const RunResult result = run(program, parameters, storage, {.values = false});
                const ArrayUse use = array_use(parameters.array, parameters.overlap, gemm);
                const std::string where = fmt::format("{} {} {} m={} n={} k={}", dataflow, overlap,
                                                      size, gemm.m, gemm.n, gemm.k);
                // The first tile is read in the first cycle; where it is needed only in the
                // wake of the held rows (is), that does not show.
                const bool held = parameters.array.dataflow == Dataflow::kInputStationary;
                EXPECT_NEAR(double(result.cycles), double(use.cycles), held ? 2 : 1) << where;
                const StepResult total = result.total();
                EXPECT_EQ(total.input_reads, std::uint64_t(use.input_reads)) << where;
                EXPECT_EQ(total.weight_reads, std::uint64_t(use.weight_reads)) << where;
                EXPECT_EQ(total.sums_written, std::uint64_t(use.output_writes)) << where;
                EXPECT_EQ(total.sums_read, std::uint64_t(use.output_reads)) << where;
                EXPECT_EQ(total.active + total.weight_stall + total.weight_shift + total.non_matrix,
                          result.cycles)
                    << where;
            }
        }
}

INSTANTIATE_TEST_SUITE_P(All, TpuCoreDataflows, testing::Values("ws", "os", "is"),
                         [](const auto& made) { return made.param; });

TEST(TpuCoreDataflow, ShortSumsWaitForThoseBeforeToLeave) {
    const Parameters parameters(
        *config::Machine::load("tpu_v2", {"sequencer.issue_interval=1", "array.dataflow=os"}));
    const Program program = product(parameters.array, {1280, 128, 16});
    Storage storage(program, false);
    const StepResult total = run(program, parameters, storage, {.values = false}).total();
    EXPECT_EQ(total.active, 10u * 16);
    // Sums leave for 128 cycles; the next ones take 16 of them.
    EXPECT_EQ(total.weight_shift, 8u * (128 - 16));
}

TEST(TpuCoreDataflow, ShortPassesWaitForTheSequencer) {
    // A pass of one lane takes a cycle; its two instructions are issued in eight.
    const Parameters parameters(*config::Machine::load(
        "tpu_v3", {"sequencer.issue_interval=4", "array.dataflow=os", "array.rows=1"}));
    const Program program = product(parameters.array, {1, 1, 10});
    Storage storage(program, false);
    const StepResult total = run(program, parameters, storage, {.values = false}).total();
    EXPECT_EQ(total.active, 10u);
    EXPECT_EQ(total.issue_stall, 4u + 9 * 7);
    // The other array has nothing to do.
    EXPECT_EQ(total.idle_units, total.active + total.weight_stall + total.weight_shift);
}

TEST(TpuCoreDataflow, ProgramsForAnotherDataflowAreRefused) {
    const Parameters weights(*config::Machine::load("tpu_v3", {}));
    ArrayShape array = weights.array;
    array.dataflow = Dataflow::kOutputStationary;
    const Program program = product(array, {1, 1, 1});
    Storage storage(program, false);
    EXPECT_THROW(run(program, weights, storage, {.values = false}), InputError);
}

}  // namespace
}  // namespace lockstep::tpu
