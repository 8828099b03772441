// SPDX-License-Identifier: Apache-2.0
// The vector unit on operands in the unified buffer.
#include "isa/tpu/operands/shared.h"

namespace lockstep::tpu {

namespace {

using enum Field;

/// Operand a of the vector unit, whose elements are of the type that a field has.
void add_a(Footprint& footprint, const Instruction& i, Field type) {
    if (i.as<Taken>(kTakes) == Taken::kA) return;
    footprint.add_rows(kBuffer, false, i[kA], i[kRows], i[kAPitch],
                       i[kColumns] * size_of(i.type(type)));
}

void add_b(Footprint& footprint, const Instruction& i) {
    const std::uint64_t size = size_of(i.type(kBType));
    if (!is_binary(i.as<Function>(kFunction)) || i.as<Taken>(kTakes) == Taken::kB) return;
    switch (i.as<Broadcast>(kBroadcast)) {
        case Broadcast::kNone:
            return footprint.add_rows(kBuffer, false, i[kB], i[kRows], i[kBPitch],
                                      i[kColumns] * size);
        case Broadcast::kRow:
            return footprint.add(kBuffer, false, i[kB], i[kB] + i[kColumns] * size);
        case Broadcast::kColumn:
            return footprint.add_rows(kBuffer, false, i[kB], i[kRows], i[kBPitch], size);
        case Broadcast::kImmediate:
            return;
    }
}

/// What integer operands and results need where they are scaled by fp32 factors.
std::string check_a_scale(const Instruction& i) {
    return !is_float(i.type(kAType)) && i.float_value(kAScale) == 0 ? "an a_scale of 0" : "";
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

std::string check_scales(const Instruction& i) {
    std::string wrong = check_a_scale(i);
    return wrong.empty() ? check_out_scale(i) : wrong;
}

}  // namespace

void touch_vector(const Instruction& i, Footprint& footprint) {
    add_a(footprint, i, kAType);
    add_b(footprint, i);
    add_table(footprint, i);
    if (!i.flag(kKeeps)) add_destination(footprint, i, i[kRows], i[kColumns]);
}

void touch_reduce(const Instruction& i, Footprint& footprint) {
    add_a(footprint, i, kAType);
    const bool columns = i.as<Axis>(kAxis) == Axis::kColumns;
    add_destination(footprint, i, columns ? i[kRows] : 1, columns ? 1 : i[kColumns]);
}

std::string check_reduce(const Instruction& i) {
    if (i.as<Taken>(kTakes) == Taken::kB) return "takes operand b, of which it has none";
    return check_scales(i);
}

std::string check_vector(const Instruction& i) {
    const bool fixed_point = is_fixed_point(i);
    if (fixed_point)
        if (std::string wrong = check_fixed_vector(i); !wrong.empty()) return wrong;
    if (std::string wrong = check_table(i); !wrong.empty()) return wrong;
    if (is_binary(i.as<Function>(kThen))) return "`then` is a function of two operands";
    if (fixed_point && (i.as<Taken>(kTakes) != Taken::kNone || i.flag(kKeeps)))
        return "fixed_point goes from buffer to buffer";
    if (i.as<Taken>(kTakes) == Taken::kB &&
        (!is_binary(i.as<Function>(kFunction)) || i.as<Broadcast>(kBroadcast) != Broadcast::kNone))
        return "takes operand b, of which it has none as wide as a";
    if (fixed_point) return "";
    if (is_binary(i.as<Function>(kFunction)) && !is_float(i.type(kBType)) &&
        i.as<Broadcast>(kBroadcast) != Broadcast::kImmediate && i.float_value(kBScale) == 0)
        return "a b_scale of 0";
    return check_scales(i);
}

void touch_pool(const Instruction& i, Footprint& footprint) {
    add_windows(footprint, i, i[kA], i[kColumns] * size_of(i.type(kAType)));
    if (is_fixed_point(i) && i.as<PoolMode>(Field::kPool) == PoolMode::kAverage)
        footprint.add(kBuffer, false, i[kParameters],
                      i[kParameters] + 8 * i[kKernelHeight] * i[kKernelWidth]);
    add_destination(footprint, i, i[kRows], i[kColumns]);
}

std::string check_pool(const Instruction& i) {
    const bool fixed_point = is_fixed_point(i);
    if (fixed_point)
        if (std::string wrong = check_fixed_pool(i); !wrong.empty()) return wrong;
    if (i.as<PoolMode>(Field::kPool) == PoolMode::kNone) return "no pool mode";
    if (!fixed_point)
        if (std::string wrong = check_scales(i); !wrong.empty()) return wrong;
    return check_windows(i);
}

void touch_transpose(const Instruction& i, Footprint& footprint) {
    add_a(footprint, i, kType);
    add_destination(footprint, i, i[kColumns], i[kRows]);
}

}  // namespace lockstep::tpu
