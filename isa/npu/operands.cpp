// SPDX-License-Identifier: Apache-2.0
// What is wrong with the operands of an instruction by themselves.
#include "isa/npu/operands.h"

#include <fmt/format.h>

#include <initializer_list>

namespace lockstep::npu {

namespace {

using enum Field;

/// The first complaint.
template <typename... Checks>
std::string first_of(const Instruction& i, Checks... checks) {
    std::string wrong;
    ((wrong.empty() ? void(wrong = checks(i)) : void()), ...);
    return wrong;
}

bool is_narrow(ElementType type) {
    return bits_of(type) <= 8;
}

std::string check_shift(const Instruction& i, Field shift) {
    const std::uint64_t value = i[shift];
    return value >= 1 && value <= 62 ? ""
                                     : fmt::format("{} is {}, not 1 to 62", row(shift).name, value);
}

bool rounds_integers(const Instruction& i) {
    return i.as<Rounding>(kRounding) != Rounding::kFp32;
}

std::string check_result_shift(const Instruction& i) {
    return rounds_integers(i) ? check_shift(i, kResultShift) : "";
}

std::string check_image(const Image& image, std::string_view what) {
    if (image.empty()) return fmt::format("{} without values", what);
    if (image.width > 1 && image.pixel < image.run())
        return fmt::format("pixels of the {} overlap: {} bytes apart, {} long", what, image.pixel,
                           image.run());
    const std::uint64_t line = (image.width - 1) * image.pixel + image.run();
    if (image.height > 1 && image.row < line)
        return fmt::format("rows of the {} overlap: {} bytes apart, {} long", what, image.row,
                           line);
    return "";
}

std::string check_input(const Instruction& i) {
    return input_of(i).empty() ? "an input without values" : "";
}
std::string check_output(const Instruction& i) {
    return i.flag(kKeep) ? "" : check_image(output_of(i), "result");
}
std::string check_narrow_input(const Instruction& i) {
    return is_narrow(i.type(kInputType)) ? "" : "an input of more than 8 bits";
}

std::string check_table(const Instruction& i) {
    const auto at = i.as<TableAt>(kTableAt);
    if (at == TableAt::kNone) return "";
    if (!is_narrow(i.type(kOutputType))) return "a table is for results of 8 bits and less";
    if (at == TableAt::kSum && i.as<Combine>(kCombine) == Combine::kNone)
        return "table_at=sum needs combine";
    return "";
}

std::string check_combine(const Instruction& i) {
    const auto combine = i.as<Combine>(kCombine);
    const bool identity = i.opcode() == Opcode::kElementwise && combine == Combine::kNone;
    if (combine == Combine::kNone && !identity) return "";
    const bool sum = combine == Combine::kAdd || combine == Combine::kSubtract;
    if (has_operand(i) && operand_of(i).empty()) return "an operand without values";
    if (!rounds_integers(i))
        return sum && i.as<Form>(kForm) == Form::kRescaled ? "rounding=fp32 adds by form=pair" : "";
    if (!sum) return check_shift(i, kResultShift);
    if (i.as<Form>(kForm) == Form::kPair)
        return i.as<Rounding>(kRounding) == Rounding::kDouble ? "form=pair rounds once"
                                                              : check_shift(i, kFirstShift);
    for (const Field shift : {kFirstShift, kSecondShift, kResultShift})
        if (std::string wrong = check_shift(i, shift); !wrong.empty()) return wrong;
    return "";
}

std::string check_sum(const Instruction& i) {
    if (i.flag(kKeep)) return "";
    if (i.type(kOutputType) == ElementType::kInt32) {
        const bool more = i[kCombine] != 0 || i[kTableAt] != 0 || i[Field::kPool] != 0;
        return more ? "int32 results are sums as they are" : "";
    }
    if (!i.flag(kPerChannel) && rounds_integers(i)) return check_shift(i, kShift);
    return "";
}

std::string check_windows(const Instruction& i) {
    if (result_of(i).empty()) return "no windows";
    if (i[kKernelHeight] == 0 || i[kKernelWidth] == 0 || i[kStrideHeight] == 0 ||
        i[kStrideWidth] == 0)
        return "a window or stride of 0";
    return "";
}

std::string check_fused_pool(const Instruction& i) {
    const auto mode = i.as<PoolMode>(Field::kPool);
    if (mode == PoolMode::kNone) return "";
    if (mode == PoolMode::kMean) return "a mean is an instruction of its own (pool)";
    if (i.flag(kKeep)) return "kept sums are not pooled";
    if (i[kPoolHeight] == 0 || i[kPoolWidth] == 0 || i[kPoolStrideHeight] == 0 ||
        i[kPoolStrideWidth] == 0)
        return "a window or stride of 0";
    const PoolPads pads = pool_pads(i);
    if (pads.top >= i[kPoolHeight] || pads.bottom >= i[kPoolHeight] || pads.left >= i[kPoolWidth] ||
        pads.right >= i[kPoolWidth])
        return "a pooling window without pixels";
    return "";
}

std::string check_weights(const Instruction& i) {
    if (!is_narrow(i.type(kWeightType))) return "weights of more than 8 bits";
    if (i[kWeightGroup] == 0) return "a weight_group of 0";
    if (i[kDilationHeight] == 0 || i[kDilationWidth] == 0) return "a dilation of 0";
    if (i.opcode() == Opcode::kDepthwise &&
        (i[kDepthMultiplier] == 0 || i[kOutChannels] != i[kChannels] * i[kDepthMultiplier]))
        return fmt::format("{} channels times {} are not {} out_channels", i[kChannels],
                           i[kDepthMultiplier], i[kOutChannels]);
    return "";
}

std::uint64_t or_else(std::uint64_t value, std::uint64_t other) {
    return value == 0 ? other : value;
}

numerics::ResizeAxis axis(std::uint64_t in, std::uint64_t out, Interpolation mode) {
    return {static_cast<std::int64_t>(in),
            static_cast<std::int64_t>(out),
            {mode >= Interpolation::kBilinear,
             mode == Interpolation::kNearestHalfPixel || mode == Interpolation::kBilinearHalfPixel,
             mode == Interpolation::kNearestCorners || mode == Interpolation::kBilinearCorners}};
}

}  // namespace

numerics::ResizeAxis resize_rows(const Instruction& i) {
    return axis(or_else(i[kInputHeight], i[kHeight]), or_else(i[kResultHeight], i[kOutHeight]),
                i.as<Interpolation>(kInterpolation));
}

numerics::ResizeAxis resize_columns(const Instruction& i) {
    return axis(i[kWidth], i[kOutWidth], i.as<Interpolation>(kInterpolation));
}

std::string check_convolve(const Instruction& i) {
    return first_of(i, check_input, check_narrow_input, check_windows, check_weights, check_sum,
                    check_combine, check_table, check_fused_pool, check_output);
}

std::string check_matrix_multiply(const Instruction& i) {
    if (!is_narrow(i.type(kOperandType))) return "an operand of more than 8 bits";
    if (operand_of(i).empty()) return "an operand without values";
    return first_of(i, check_input, check_narrow_input, check_sum, check_table, check_output);
}

std::string check_elementwise(const Instruction& i) {
    return first_of(i, check_input, check_combine, check_table, check_output);
}

std::string check_pool(const Instruction& i) {
    if (i.as<PoolMode>(Field::kPool) == PoolMode::kNone) return "no pool mode";
    return first_of(i, check_input, check_windows, check_table, check_output);
}

std::string check_reduce(const Instruction& i) {
    return first_of(i, check_result_shift, check_input, check_table, check_output);
}

std::string check_softmax(const Instruction& i) {
    if (i.type(kInputType) != ElementType::kInt8 || i.type(kOutputType) != ElementType::kInt8)
        return "softmax is from int8 to int8";
    const std::int64_t least = i.signed_value(kDifferenceMin);
    if (i.signed_value(kMultiplier) < 0 || least > 0 ||
        -least > std::int64_t{INT32_MAX} >> i[kLeftShift])
        return "differences that are not 0 and less, or do not fit 32 bits after left_shift";
    return first_of(i, check_input, check_output);
}

std::string check_local_response(const Instruction& i) {
    if (!is_narrow(i.type(kOutputType))) return "results of more than 8 bits";
    return first_of(i, check_input, check_narrow_input, check_result_shift, check_table,
                    check_output);
}

std::string check_resize(const Instruction& i) {
    if (i.type(kInputType) != i.type(kOutputType)) return "resize does not change the type";
    if (std::string wrong = first_of(i, check_input, check_output); !wrong.empty()) return wrong;
    const std::uint64_t last = i[kResultFirst] + i[kOutHeight];
    if (last > or_else(i[kResultHeight], i[kOutHeight]))
        return fmt::format("row {} of a result of {}", last, i[kResultHeight]);
    const numerics::ResizeAxis rows = resize_rows(i);
    const auto first = static_cast<std::int64_t>(i[kInputFirst]),
               height = static_cast<std::int64_t>(i[kHeight]);
    const std::int64_t low = rows.at(static_cast<std::int64_t>(i[kResultFirst])).low,
                       high = rows.at(static_cast<std::int64_t>(last - 1)).high;
    return low >= first && high < first + height
               ? ""
               : fmt::format("needs rows {} to {} of the image, has {} of them from {} on", low,
                             high, height, first);
}

std::string check_copy(const Instruction& i) {
    if (i[kRowBytes] == 0 || i[kRows] == 0 || i[kPlanes] == 0) return "nothing to write";
    if (i[kRows] > 1 && i[kDestinationPitch] == 0) return "rows of the destination overlap";
    if (i[kPlanes] > 1 && i[kDestinationPlane] == 0) return "planes of the destination overlap";
    return "";
}

}  // namespace lockstep::npu
