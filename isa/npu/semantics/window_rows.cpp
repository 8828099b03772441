// SPDX-License-Identifier: Apache-2.0
#include "isa/npu/semantics/window_rows.h"

#include <algorithm>
#include <cstring>

#include "isa/npu/semantics/elements.h"

namespace lockstep::npu {

namespace {

using enum Field;

std::int64_t at_least_one(std::uint64_t value) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(value));
}

}  // namespace

CentredImage::CentredImage(const Instruction& i, State& state) {
    const Image image = input_of(i);
    height_ = static_cast<std::int64_t>(image.height);
    width_ = static_cast<std::int64_t>(image.width);
    channels_ = image.channels;
    values_.resize(image.values());
    zeros_.resize(channels_);
    const auto zero = static_cast<std::int32_t>(i.signed_value(kInputZero));
    const bool dense = bits_of(image.type) == 8 && image.pixel == image.channels;
    std::int16_t* to = values_.data();
    for (std::uint64_t y = 0; y < image.height; ++y) {
        const std::uint8_t* row = state.sram(image.address + y * image.row);
        if (dense) {
            unpack_narrow(row, image.type, image.width * image.channels, zero, to);
            to += image.width * image.channels;
            continue;
        }
        for (std::uint64_t x = 0; x < image.width; ++x, to += image.channels)
            unpack_narrow(row + x * image.pixel, image.type, image.channels, zero, to);
    }
}

WindowRows::WindowRows(const Instruction& i, State& state)
    : i_(i),
      image_(i, state),
      lanes_(i[kKernelHeight] * i[kKernelWidth] * i[kChannels]),
      pitch_(product::integer_pitch(static_cast<std::uint32_t>(lanes_))),
      is_image_(lanes_ == i[kChannels] && lanes_ == pitch_ && i[kStrideHeight] == 1 &&
                i[kStrideWidth] == 1 && i[kPadTop] == 0 && i[kPadLeft] == 0 &&
                i[kUpsampleHeight] <= 1 && i[kUpsampleWidth] <= 1 && i[kOutWidth] == i[kWidth] &&
                i[kOutHeight] <= i[kHeight]) {}

const std::int16_t* WindowRows::rows(std::uint64_t first, std::uint64_t count) {
    if (is_image_) return image_.values() + first * pitch_;
    rows_.resize(count * pitch_);
    for (std::uint64_t p = 0; p < count; ++p) {
        std::int16_t* row = rows_.data() + p * pitch_;
        gather(first + p, row);
        if (lanes_ != pitch_) row[lanes_] = 0;
    }
    return rows_.data();
}

void WindowRows::gather(std::uint64_t pixel, std::int16_t* row) const {
    const auto of = [&](Field field) { return static_cast<std::int64_t>(i_[field]); };
    const std::int64_t up_height = at_least_one(i_[kUpsampleHeight]),
                       up_width = at_least_one(i_[kUpsampleWidth]);
    const std::int64_t top =
        static_cast<std::int64_t>(pixel) / of(kOutWidth) * of(kStrideHeight) - of(kPadTop);
    const std::int64_t left =
        static_cast<std::int64_t>(pixel) % of(kOutWidth) * of(kStrideWidth) - of(kPadLeft);
    const std::size_t channels = image_.channels();
    const bool beside = of(kDilationWidth) == 1 && up_width == 1 && left >= 0 &&
                        left + of(kKernelWidth) <= image_.width();
    for (std::int64_t ky = 0; ky < of(kKernelHeight); ++ky) {
        const std::int64_t y = top + ky * of(kDilationHeight);
        const bool is_row = y % up_height == 0;
        if (is_row && beside) {
            const std::size_t run = static_cast<std::size_t>(of(kKernelWidth)) * channels;
            const std::int64_t line = y / up_height;
            if (y < 0 || line >= image_.height())
                std::fill_n(row, run, std::int16_t{0});
            else
                std::memcpy(row, image_.pixel(line, left), 2 * run);
            row += run;
            continue;
        }
        for (std::int64_t kx = 0; kx < of(kKernelWidth); ++kx, row += channels) {
            const std::int64_t x = left + kx * of(kDilationWidth);
            const bool is_pixel = is_row && x % up_width == 0;
            std::memcpy(row,
                        is_pixel ? image_.pixel(y / up_height, x / up_width) : image_.pixel(-1, -1),
                        2 * channels);
        }
    }
}

}  // namespace lockstep::npu
