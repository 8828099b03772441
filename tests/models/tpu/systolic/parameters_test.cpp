// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/tpu/systolic/array.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"

namespace lockstep::tpu {
namespace {

ArrayParameters parameters(const std::vector<std::string>& overrides = {}) {
    return ArrayParameters(*config::Machine::load("systolic", overrides));
}

TEST(ArrayParameters, ComeFromTheMachineFile) {
    const ArrayParameters p = parameters(
        {"array.rows=16", "array.columns=8", "array.dataflow=is", "array.overlap=double"});
    EXPECT_EQ(p.shape.rows, 16);
    EXPECT_EQ(p.shape.columns, 8);
    EXPECT_EQ(p.shape.dataflow, Dataflow::kInputStationary);
    EXPECT_EQ(p.overlap, Overlap::kDouble);
    EXPECT_EQ(p.clock_mhz, 700);
    EXPECT_THROW(parameters({"array.dataflow=rs"}), InputError);
    EXPECT_THROW(parameters({"array.overlap=yes"}), InputError);
    EXPECT_THROW(parameters({"array.fidelity=rtl"}), InputError);
    EXPECT_THROW(parameters({"array.rows=0"}), InputError);
}

TEST(ArrayParameters, FidelityFollowsSizeAndTrace) {
    const GemmShape small{64, 64, 64}, large{8192, 8192, 8192};
    EXPECT_EQ(parameters().fidelity_for(small, false), Fidelity::kRegisters);
    EXPECT_EQ(parameters().fidelity_for(large, false), Fidelity::kWavefront);
    EXPECT_EQ(parameters().fidelity_for(small, true), Fidelity::kNetlist);
    EXPECT_EQ(parameters({"array.fidelity=netlist"}).fidelity_for(small, false),
              Fidelity::kNetlist);
    EXPECT_EQ(parameters({"array.fidelity=registers"}).fidelity_for(large, false),
              Fidelity::kRegisters);
    EXPECT_THROW(parameters({"array.rows=33"}).fidelity_for(small, true), InputError);
    EXPECT_THROW(parameters({"array.fidelity=wavefront"}).fidelity_for(small, true), InputError);
}

TEST(ArrayUse, SaysWhereTheCyclesGo) {
    const ArrayShape ws{8, 8, Dataflow::kWeightStationary};
    // Two folds of k, three of n; 20 vectors through each.
    const GemmShape gemm{20, 24, 12};
    const ArrayUse serial = array_use(ws, Overlap::kNone, gemm);
    EXPECT_EQ(serial.cycles, 6 * (8 + 20 + 14));
    EXPECT_EQ(serial.stream, 6 * 20);
    EXPECT_EQ(serial.load, 6 * 8);
    EXPECT_EQ(serial.skew, 6 * 14);
    EXPECT_DOUBLE_EQ(serial.fold_fill, 75);
    EXPECT_DOUBLE_EQ(serial.utilization, 100.0 * 20 * 24 * 12 / (serial.cycles * 64));
    const ArrayUse twice = array_use(ws, Overlap::kDouble, gemm);
    EXPECT_EQ(twice.cycles, 8 + 6 * 20 + 14);
    EXPECT_EQ(twice.load, 8);  // only the first is seen
    EXPECT_EQ(twice.skew, 14);
    // Four vectors a fold: the loading of eight rows shows, four cycles of it each time.
    const ArrayUse bound = array_use(ws, Overlap::kDouble, {4, 24, 12});
    EXPECT_EQ(bound.cycles, 5 * 8 + 8 + 4 + 14);
    EXPECT_EQ(bound.load, 5 * 4 + 8);
    EXPECT_EQ(bound.skew, 14);
}

TEST(ArrayUse, CountsWhatEntersAndLeaves) {
    const GemmShape gemm{20, 24, 12};
    const ArrayUse ws = array_use({8, 8, Dataflow::kWeightStationary}, Overlap::kNone, gemm);
    EXPECT_EQ(ws.input_reads, 20 * 12 * 3);
    EXPECT_EQ(ws.weight_reads, 12 * 24);
    EXPECT_EQ(ws.output_writes, 20 * 24 * 2);
    EXPECT_EQ(ws.output_reads, 20 * 24);
    const ArrayUse os = array_use({8, 8, Dataflow::kOutputStationary}, Overlap::kNone, gemm);
    EXPECT_EQ(os.weight_reads, 12 * 24 * 3);
    EXPECT_EQ(os.output_writes, 20 * 24);
    EXPECT_EQ(os.output_reads, 0);
    const ArrayUse is = array_use({8, 8, Dataflow::kInputStationary}, Overlap::kNone, gemm);
    EXPECT_EQ(is.input_reads, 20 * 12);
    EXPECT_EQ(is.weight_reads, 12 * 24 * 3);
}

}  // namespace
}  // namespace lockstep::tpu
