// SPDX-License-Identifier: Apache-2.0
// Where the windows of a convolution or pooling lie in an NHWC image.
#pragma once

#include <cstdint>

#include "isa/tpu/instruction.h"

namespace lockstep::tpu {

class Windows {
  public:
    explicit Windows(const Instruction& i)
        : height_(static_cast<std::int64_t>(i[Field::kHeight])),
          width_(static_cast<std::int64_t>(i[Field::kWidth])),
          out_height_(static_cast<std::int64_t>(i[Field::kOutHeight])),
          out_width_(static_cast<std::int64_t>(i[Field::kOutWidth])),
          stride_height_(static_cast<std::int64_t>(i[Field::kStrideHeight])),
          stride_width_(static_cast<std::int64_t>(i[Field::kStrideWidth])),
          pad_top_(static_cast<std::int64_t>(i[Field::kPadTop])),
          pad_left_(static_cast<std::int64_t>(i[Field::kPadLeft])),
          dilation_height_(i[Field::kDilationHeight] == 0
                               ? 1
                               : static_cast<std::int64_t>(i[Field::kDilationHeight])),
          dilation_width_(i[Field::kDilationWidth] == 0
                              ? 1
                              : static_cast<std::int64_t>(i[Field::kDilationWidth])),
          pixel_pitch_(static_cast<std::int64_t>(i[Field::kPixelPitch])) {}

    /// Goes to the window of output pixel `row`, counted over all images.
    void select(std::uint64_t row) {
        const auto r = static_cast<std::int64_t>(row);
        image_ = r / (out_height_ * out_width_);
        top_ = r / out_width_ % out_height_ * stride_height_ - pad_top_;
        left_ = r % out_width_ * stride_width_ - pad_left_;
    }

    /// Byte offset of the pixel under a tap of the window, or -1 outside of the image.
    std::int64_t offset(std::uint64_t kernel_y, std::uint64_t kernel_x) const {
        const std::int64_t y = top_ + static_cast<std::int64_t>(kernel_y) * dilation_height_;
        const std::int64_t x = left_ + static_cast<std::int64_t>(kernel_x) * dilation_width_;
        if (y < 0 || y >= height_ || x < 0 || x >= width_) return -1;
        return ((image_ * height_ + y) * width_ + x) * pixel_pitch_;
    }

  private:
    std::int64_t height_, width_, out_height_, out_width_, stride_height_, stride_width_, pad_top_,
        pad_left_, dilation_height_, dilation_width_, pixel_pitch_;
    std::int64_t image_ = 0, top_ = 0, left_ = 0;
};

}  // namespace lockstep::tpu
