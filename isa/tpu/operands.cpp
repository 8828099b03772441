// SPDX-License-Identifier: Apache-2.0
// What is wrong with the operands of an instruction by themselves.
#include "isa/tpu/operands.h"

namespace lockstep::tpu {

namespace {

using enum Field;

bool is_narrow_integer(DataType type) {
    return !is_float(type) && size_of(type) <= 2;
}

bool is_relu_or_identity(const Instruction& i, Field field) {
    const auto function = i.as<Function>(field);
    return function == Function::kIdentity || function == Function::kRelu;
}

/// What every fixed-point result asks for.
std::string check_fixed_result(const Instruction& i, bool uses_shift) {
    if (!is_narrow_integer(i.type(kType))) return "fixed_point gives integers of 8 or 16 bits";
    if (uses_shift && (i[kShift] == 0 || i[kShift] > 62)) return "a shift that is not 1 to 62";
    return "";
}

std::string check_fixed_activate(const Instruction& i) {
    if (std::string wrong = check_fixed_result(i, i.flag(kHasAddend)); !wrong.empty()) return wrong;
    if (i.type(kAccumulatorType) != DataType::kInt32) return "fixed_point adds integers";
    if (!i.flag(kHasScales)) return "fixed_point needs has_scales";
    if (!is_relu_or_identity(i, kFunction)) return "fixed_point knows identity and relu";
    if (i.as<PoolMode>(Field::kPool) == PoolMode::kAverage)
        return "an average in fixed_point is an instruction of its own (pool)";
    if (i.flag(kHasAddend) && !is_narrow_integer(i.type(kAddendType)))
        return "fixed_point adds integers";
    return "";
}

std::string check_fixed_vector(const Instruction& i) {
    if (std::string wrong = check_fixed_result(i, true); !wrong.empty()) return wrong;
    const auto function = i.as<Function>(kFunction);
    if (function != Function::kIdentity && function != Function::kAdd &&
        function != Function::kMultiply)
        return "fixed_point knows identity, add and multiply";
    if (!is_relu_or_identity(i, kThen)) return "fixed_point knows identity and relu";
    if (!is_narrow_integer(i.type(kAType)) ||
        (is_binary(function) && (!is_narrow_integer(i.type(kBType)) ||
                                 i.as<Broadcast>(kBroadcast) == Broadcast::kImmediate)))
        return "fixed_point takes integers of 8 or 16 bits";
    return "";
}

/// Sums of bytes that fp32 holds exactly.
std::string check_fixed_pool(const Instruction& i) {
    if (std::string wrong = check_fixed_result(i, false); !wrong.empty()) return wrong;
    if (i.as<PoolMode>(Field::kPool) == PoolMode::kAverage &&
        (size_of(i.type(kAType)) != 1 || i[kKernelHeight] * i[kKernelWidth] > 1 << 14))
        return "fixed_point averages at most 2^14 values of 8 bits";
    return is_narrow_integer(i.type(kAType)) ? "" : "fixed_point takes integers of 8 or 16 bits";
}

std::string check_table(const Instruction& i) {
    if (!i.flag(kHasTable)) return "";
    if (is_float(i.type(kType)) || size_of(i.type(kType)) != 1)
        return "a table is for results of 8 bits";
    return is_fixed_point(i) ? "" : "a table needs rounding=fixed_point";
}

/// What integer operands and results need where they are scaled by fp32 factors.
std::string check_a_scale(const Instruction& i) {
    return !is_float(i.type(kAType)) && i.float_value(kAScale) == 0 ? "an a_scale of 0" : "";
}
std::string check_out_scale(const Instruction& i) {
    return !is_float(i.type(kType)) && !(i.float_value(kOutScale) > 0)
               ? "integer results need an out_scale above 0"
               : "";
}

std::string check_windows(const Instruction& i) {
    if (i[kOutHeight] == 0 || i[kOutWidth] == 0 || i[kHeight] == 0 || i[kWidth] == 0)
        return "an image without pixels";
    if (i[kKernelHeight] == 0 || i[kKernelWidth] == 0 || i[kStrideHeight] == 0 ||
        i[kStrideWidth] == 0)
        return "a window or stride of 0";
    // Addresses stay far from overflow: no unified buffer has this many bytes.
    constexpr std::uint64_t kLimit = std::uint64_t{1} << 40;
    const std::uint64_t image = i[kHeight] * i[kWidth] * i[kPixelPitch];
    const std::uint64_t images = (i[kFirstRow] + i[kRows]) / (i[kOutHeight] * i[kOutWidth]) + 1;
    if (image != 0 && images > kLimit / image) return "images of more than 2^40 bytes";
    return "";
}

std::string check_types(const Instruction& i) {
    const DataType a = i.type(kType), b = i.type(kWeightType);
    const bool integers = is_narrow_integer(a) && is_narrow_integer(b);
    return integers || (is_float(a) && is_float(b))
               ? ""
               : "operands must be integers of 8 or 16 bits both, or bf16 or fp32 both";
}

}  // namespace

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

std::string check_convolve(const Instruction& i) {
    if (std::string wrong = check_matrix_multiply(i); !wrong.empty()) return wrong;
    if (i[kChannels] == 0) return "a window without channels";
    if (i[kFirstLane] + i[kLanes] > i[kKernelHeight] * i[kKernelWidth] * i[kChannels])
        return "lanes past the end of the window";
    if (i[kDilationHeight] == 0 || i[kDilationWidth] == 0) return "a dilation of 0";
    return check_windows(i);
}

std::string check_depthwise(const Instruction& i) {
    if (std::string wrong = check_types(i); !wrong.empty()) return wrong;
    if (i[kDilationHeight] == 0 || i[kDilationWidth] == 0) return "a dilation of 0";
    return check_windows(i);
}

std::string check_activate(const Instruction& i) {
    const bool fixed_point = is_fixed_point(i);
    if (fixed_point)
        if (std::string wrong = check_fixed_activate(i); !wrong.empty()) return wrong;
    if (std::string wrong = check_table(i); !wrong.empty()) return wrong;
    const DataType from = i.type(kAccumulatorType);
    if (from != DataType::kInt32 && from != DataType::kFp32)
        return "accumulators are int32 or fp32";
    if (is_binary(i.as<Function>(kFunction))) return "a function of two operands";
    if (!fixed_point) {
        if (i.float_value(kScale) == 0) return "a scale of 0";
        if (std::string wrong = check_out_scale(i); !wrong.empty()) return wrong;
    }
    if (i.as<PoolMode>(Field::kPool) == PoolMode::kNone) return "";
    if (i[kHeight] == 0 || i[kWidth] == 0 || i[kRows] % (i[kHeight] * i[kWidth]) != 0)
        return "pooling needs rows that are whole images of height x width";
    if (i[kPoolKernel] == 0 || i[kPoolStride] == 0) return "a window or stride of 0";
    if (activate_output_rows(i) == 0 && i[kRows] != 0) return "a window without pixels";
    return "";
}

std::string check_vector(const Instruction& i) {
    const bool fixed_point = is_fixed_point(i);
    if (fixed_point)
        if (std::string wrong = check_fixed_vector(i); !wrong.empty()) return wrong;
    if (std::string wrong = check_table(i); !wrong.empty()) return wrong;
    if (is_binary(i.as<Function>(kThen))) return "`then` is a function of two operands";
    if (fixed_point) return "";
    if (is_binary(i.as<Function>(kFunction)) && !is_float(i.type(kBType)) &&
        i.as<Broadcast>(kBroadcast) != Broadcast::kImmediate && i.float_value(kBScale) == 0)
        return "a b_scale of 0";
    return check_reduce(i);
}

std::string check_reduce(const Instruction& i) {
    std::string wrong = check_a_scale(i);
    return wrong.empty() ? check_out_scale(i) : wrong;
}

std::string check_pool(const Instruction& i) {
    const bool fixed_point = is_fixed_point(i);
    if (fixed_point)
        if (std::string wrong = check_fixed_pool(i); !wrong.empty()) return wrong;
    if (i.as<PoolMode>(Field::kPool) == PoolMode::kNone) return "no pool mode";
    if (!fixed_point)
        if (std::string wrong = check_reduce(i); !wrong.empty()) return wrong;
    return check_windows(i);
}

}  // namespace lockstep::tpu
