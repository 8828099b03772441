// SPDX-License-Identifier: Apache-2.0
// Sums on their way from the accumulators to the unified buffer.
#include "isa/tpu/operands/shared.h"

namespace lockstep::tpu {

namespace {

using enum Field;

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

}  // namespace

void touch_activate(const Instruction& i, Footprint& footprint) {
    footprint.add(Space::kAccumulators, false, i[kAccumulator],
                  i[kAccumulator] + i[i.flag(kTransposed) ? kColumns : kRows]);
    const std::uint64_t scale_words = is_fixed_point(i) ? 2 : 1;
    const std::uint64_t parameters = (i[kHasBias] + i[kHasScales] * scale_words) * i[kColumns];
    footprint.add(kBuffer, false, i[kParameters], i[kParameters] + 4 * parameters);
    if (i.flag(kHasAddend))
        footprint.add_rows(kBuffer, false, i[kAddend], i[kRows], i[kAddendPitch],
                           i[kColumns] * size_of(i.type(kAddendType)));
    add_table(footprint, i);
    add_destination(footprint, i, activate_output_rows(i), i[kColumns]);
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

}  // namespace lockstep::tpu
