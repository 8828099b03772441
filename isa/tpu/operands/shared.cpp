// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/operands/shared.h"

#include <algorithm>

namespace lockstep::tpu {

using enum Field;

void add_windows(Footprint& footprint, const Instruction& i, std::uint64_t base,
                 std::uint64_t pixel_bytes) {
    const std::uint64_t out_image = i[kOutHeight] * i[kOutWidth];
    if (out_image == 0 || i[kRows] == 0 || i[kHeight] == 0 || i[kWidth] == 0) return;
    const std::uint64_t first = i[kFirstRow], last = first + i[kRows] - 1;
    std::int64_t top = 0, bottom = static_cast<std::int64_t>(i[kHeight]) - 1;
    const auto input_row = [&](std::uint64_t row, std::uint64_t kernel_row) {
        const std::uint64_t y = row % out_image / i[kOutWidth];
        return static_cast<std::int64_t>(y * i[kStrideHeight] +
                                         kernel_row *
                                             std::max<std::uint64_t>(1, i[kDilationHeight])) -
               static_cast<std::int64_t>(i[kPadTop]);
    };
    if (first / out_image == last / out_image) {
        top = std::clamp<std::int64_t>(input_row(first, 0), 0, bottom);
        bottom = std::clamp<std::int64_t>(
            input_row(last, std::max<std::uint64_t>(1, i[kKernelHeight]) - 1), 0, bottom);
    }
    const std::uint64_t row_bytes = i[kWidth] * i[kPixelPitch];
    const std::uint64_t image_bytes = i[kHeight] * row_bytes;
    const std::uint64_t begin =
        base + first / out_image * image_bytes + static_cast<std::uint64_t>(top) * row_bytes;
    const std::uint64_t end = base + last / out_image * image_bytes +
                              static_cast<std::uint64_t>(bottom) * row_bytes +
                              (i[kWidth] - 1) * i[kPixelPitch] + pixel_bytes;
    footprint.add_windows(kBuffer, begin, end, base, pixel_bytes);
}

void add_table(Footprint& footprint, const Instruction& i) {
    constexpr std::uint64_t kEntries = 256;
    if (i.flag(kHasTable)) footprint.add(kBuffer, false, i[kTable], i[kTable] + kEntries);
}

void add_destination(Footprint& footprint, const Instruction& i, std::uint64_t rows,
                     std::uint64_t columns) {
    footprint.add_rows(kBuffer, true, i[kDestination], rows, i[kPitch],
                       columns * size_of(i.type(kType)));
}

bool is_relu_or_identity(const Instruction& i, Field field) {
    const auto function = i.as<Function>(field);
    return function == Function::kIdentity || function == Function::kRelu;
}

std::string check_fixed_result(const Instruction& i, bool uses_shift) {
    if (!is_narrow_integer(i.type(kType))) return "fixed_point gives integers of 8 or 16 bits";
    if (uses_shift && (i[kShift] == 0 || i[kShift] > 62)) return "a shift that is not 1 to 62";
    return "";
}

std::string check_table(const Instruction& i) {
    if (!i.flag(kHasTable)) return "";
    if (is_float(i.type(kType)) || size_of(i.type(kType)) != 1)
        return "a table is for results of 8 bits";
    return is_fixed_point(i) ? "" : "a table needs rounding=fixed_point";
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

}  // namespace lockstep::tpu
