// SPDX-License-Identifier: Apache-2.0
// The input as the array sees it: centred, and its windows as rows of lanes (ky, kx, channel).
#pragma once

#include <cstdint>
#include <vector>

#include "isa/npu/semantics/state.h"

namespace lockstep::npu {

/// Pixels without their zero point.
class CentredImage {
  public:
    CentredImage(const Instruction& instruction, State& state);

    /// Its channels; zeros outside of the image.
    const std::int16_t* pixel(std::int64_t y, std::int64_t x) const {
        const bool outside = y < 0 || x < 0 || y >= height_ || x >= width_;
        return outside ? zeros_.data()
                       : values_.data() + static_cast<std::size_t>(y * width_ + x) * channels_;
    }
    std::int64_t height() const { return height_; }
    std::int64_t width() const { return width_; }
    std::size_t channels() const { return channels_; }
    const std::int16_t* values() const { return values_.data(); }

  private:
    std::int64_t height_, width_;
    std::size_t channels_;
    std::vector<std::int16_t> values_, zeros_;
};

class WindowRows {
  public:
    WindowRows(const Instruction& instruction, State& state);

    /// The windows of output pixels from `first` on, product::integer_pitch(lanes) apart; valid
    /// until the next call.
    const std::int16_t* rows(std::uint64_t first, std::uint64_t count);

  private:
    void gather(std::uint64_t pixel, std::int16_t* row) const;

    const Instruction& i_;
    const CentredImage image_;
    const std::size_t lanes_, pitch_;
    const bool is_image_;  ///< windows are pixels, one after the other
    std::vector<std::int16_t> rows_;
};

}  // namespace lockstep::npu
