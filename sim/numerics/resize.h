// SPDX-License-Identifier: Apache-2.0
// Images of another size as TensorFlow Lite's integer reference makes them: one dimension at a
// time says which two elements of the input an element of the result lies between, and how far.
// Source: kernels/internal/reference/{resize_bilinear,resize_nearest_neighbor}.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lockstep::numerics {

class ResizeAxis {
  public:
    static constexpr int kBits = 10;  ///< of a fraction
    static constexpr std::int64_t kOne = std::int64_t{1} << kBits;

    /// low * (kOne - fraction) + high * fraction, over kOne. A fraction is below 0 where the
    /// result begins before the first element; low is high there.
    struct Source {
        std::int64_t low = 0, high = 0, fraction = 0;
        bool operator==(const Source&) const = default;
    };
    struct Mode {
        bool bilinear = false, half_pixels = false, corners = false;
    };

    ResizeAxis(std::int64_t in, std::int64_t out, Mode mode) : in_(in), mode_(mode) {
        const bool corners = mode.corners && out > 1;
        ratio_ = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                         : static_cast<float>(in) / static_cast<float>(out);
        scale_ = corners ? (((in - 1) << kBits) + (out - 1) / 2) / (out - 1)
                         : ((in << kBits) + out / 2) / out;
    }

    Source at(std::int64_t position) const {
        return mode_.bilinear ? between(position) : nearest(position);
    }

  private:
    Source between(std::int64_t position) const {
        const std::int64_t at = position * scale_ + (mode_.half_pixels ? scale_ / 2 - kOne / 2 : 0);
        const std::int64_t low = std::clamp<std::int64_t>(at / kOne, 0, in_ - 1);
        const std::int64_t high = std::clamp<std::int64_t>((at + kOne - 1) / kOne, 0, in_ - 1);
        return {low, high, at - kOne * low};
    }
    Source nearest(std::int64_t position) const {
        const float at =
            (static_cast<float>(position) + (mode_.half_pixels ? 0.5f : 0.0f)) * ratio_;
        const auto index =
            static_cast<std::int64_t>(mode_.corners ? std::round(at) : std::floor(at));
        const std::int64_t element = std::clamp<std::int64_t>(index, 0, in_ - 1);
        return {element, element, 0};
    }

    std::int64_t in_, scale_ = 0;
    float ratio_ = 0;
    Mode mode_;
};

}  // namespace lockstep::numerics
