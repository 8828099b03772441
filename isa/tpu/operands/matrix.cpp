// SPDX-License-Identifier: Apache-2.0
// Weight tiles, products and convolutions.
#include "isa/tpu/operands/shared.h"

namespace lockstep::tpu {

namespace {

using enum Field;

/// Whether a matrix instruction reads rows, or works on those that the array holds.
bool takes_inputs(const Instruction& i) {
    return dataflow_of(i) != Dataflow::kInputStationary || i.flag(kSwitchInputs);
}

/// Accumulators that a matrix instruction adds to and writes.
void add_sums(Footprint& footprint, const Instruction& i) {
    const Dataflow dataflow = dataflow_of(i);
    const bool held = dataflow == Dataflow::kOutputStationary;  // they stay in the array
    const std::uint64_t end =
        i[kAccumulator] + i[dataflow == Dataflow::kInputStationary ? kColumns : kRows];
    if (i.flag(kAccumulate) && !held)
        footprint.add(Space::kAccumulators, false, i[kAccumulator], end);
    if (!held || i.flag(kUnload)) footprint.add(Space::kAccumulators, true, i[kAccumulator], end);
}

std::string check_types(const Instruction& i) {
    const DataType a = i.type(kType), b = i.type(kWeightType);
    const bool integers = is_narrow_integer(a) && is_narrow_integer(b);
    return integers || (is_float(a) && is_float(b))
               ? ""
               : "operands must be integers of 8 or 16 bits both, or bf16 or fp32 both";
}

}  // namespace

void touch_read_weights(const Instruction& i, Footprint& footprint) {
    const std::uint64_t rows = i.flag(kTransposed) ? i[kColumns] : i[kLanes];
    const std::uint64_t columns = i.flag(kTransposed) ? i[kLanes] : i[kColumns];
    const Space from =
        i.as<WeightSource>(kFrom) == WeightSource::kMemory ? Space::kMemory : kBuffer;
    footprint.add_rows(from, false, i[kAddress], rows, i[kPitch],
                       columns * size_of(i.type(kWeightType)));
}

void touch_matrix_multiply(const Instruction& i, Footprint& footprint) {
    if (takes_inputs(i))
        footprint.add_rows(kBuffer, false, i[kSource], i[kRows], i[kPitch],
                           i[kLanes] * size_of(i.type(kType)));
    add_sums(footprint, i);
}

std::string check_matrix_multiply(const Instruction& i) {
    if (std::string wrong = check_types(i); !wrong.empty()) return wrong;
    const Dataflow dataflow = dataflow_of(i);
    if (dataflow != Dataflow::kWeightStationary && !i.flag(kSwitchWeights))
        return "an array that holds no weights streams each tile once: switch_weights=1";
    if (i.flag(kUnload) && dataflow != Dataflow::kOutputStationary)
        return "unload needs dataflow=os";
    if (i.flag(kSwitchInputs) && dataflow != Dataflow::kInputStationary)
        return "switch_inputs needs dataflow=is";
    return "";
}

void touch_convolve(const Instruction& i, Footprint& footprint) {
    if (takes_inputs(i))
        add_windows(footprint, i, i[kSource], i[kChannels] * size_of(i.type(kType)));
    add_sums(footprint, i);
}

std::string check_convolve(const Instruction& i) {
    if (std::string wrong = check_matrix_multiply(i); !wrong.empty()) return wrong;
    if (i[kChannels] == 0) return "a window without channels";
    if (i[kFirstLane] + i[kLanes] > i[kKernelHeight] * i[kKernelWidth] * i[kChannels])
        return "lanes past the end of the window";
    if (i[kDilationHeight] == 0 || i[kDilationWidth] == 0) return "a dilation of 0";
    return check_windows(i);
}

void touch_depthwise(const Instruction& i, Footprint& footprint) {
    add_windows(footprint, i, i[kSource], i[kColumns] * size_of(i.type(kType)));
    footprint.add(kBuffer, false, i[kWeights],
                  i[kWeights] + i[kKernelHeight] * i[kKernelWidth] * i[kColumns] *
                                    size_of(i.type(kWeightType)));
    footprint.add(Space::kAccumulators, true, i[kAccumulator], i[kAccumulator] + i[kRows]);
}

std::string check_depthwise(const Instruction& i) {
    if (std::string wrong = check_types(i); !wrong.empty()) return wrong;
    if (i[kDilationHeight] == 0 || i[kDilationWidth] == 0) return "a dilation of 0";
    return check_windows(i);
}

}  // namespace lockstep::tpu
