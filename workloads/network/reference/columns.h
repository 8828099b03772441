// SPDX-License-Identifier: Apache-2.0
// A convolution's input as the columns of a matrix: one row a tap of a channel, one column an
// output position.
#pragma once

#include <algorithm>
#include <vector>

#include "workloads/network/shapes/window.h"

namespace lockstep::network::reference {

/// One tap of one channel at each output position, in row-major order: `row` of the columns. The
/// innermost dimension is copied as a run, zeros where the window is in the padding.
template <class Real>
void copy_tap(const SlidingWindow& window, const Shape& input, const std::vector<std::int64_t>& tap,
              const Real* x, Real* row) {
    const std::size_t last = input.size() - 1;
    const std::int64_t extent = window.output[last], stride = window.stride[last];
    const std::int64_t shift = tap[last] * window.dilation[last] - window.pad_begin[last];
    // The outputs whose inputs shift + o * stride are inside.
    const std::int64_t first =
        std::clamp(shift >= 0 ? 0 : (-shift + stride - 1) / stride, std::int64_t{0}, extent);
    const std::int64_t past =
        shift >= input[last] ? first
                             : std::clamp((input[last] - 1 - shift) / stride + 1, first, extent);
    std::vector<std::int64_t> position(last, 0);
    const std::int64_t lines = extent == 0 ? 0 : element_count(window.output) / extent;
    for (std::int64_t line = 0; line < lines; ++line, row += extent) {
        std::int64_t offset = 0;
        bool inside = true;
        for (std::size_t d = 0; d < last; ++d) {
            const std::int64_t at =
                position[d] * window.stride[d] + tap[d] * window.dilation[d] - window.pad_begin[d];
            inside = inside && at >= 0 && at < input[d];
            offset = offset * input[d] + at;
        }
        if (inside) {
            const Real* from = x + offset * input[last] + shift;
            std::fill(row, row + first, Real{});
            if (stride == 1)
                std::copy(from + first, from + past, row + first);
            else
                for (std::int64_t o = first; o < past; ++o) row[o] = from[o * stride];
            std::fill(row + past, row + extent, Real{});
        } else {
            std::fill(row, row + extent, Real{});
        }
        for (std::size_t d = last; d-- > 0;) {
            if (++position[d] < window.output[d]) break;
            position[d] = 0;
        }
    }
}

/// All rows for `channels` channels of the spatial extents `input`, which is not spread.
template <class Real>
void copy_dense_columns(const SlidingWindow& window, const Shape& input, std::int64_t channels,
                        const Real* x, Real* columns) {
    const std::int64_t plane = element_count(input), taps = element_count(window.kernel),
                       outputs = element_count(window.output);
    std::vector<std::int64_t> tap(window.kernel.size(), 0);
    for (std::int64_t row = 0; row < channels * taps; ++row) {
        copy_tap(window, input, tap, x + row / taps * plane, columns + row * outputs);
        for (std::size_t d = tap.size(); d-- > 0;) {
            if (++tap[d] < window.kernel[d]) break;
            tap[d] = 0;
        }
    }
}

/// A plane with the zeros between its elements that the window sees there.
template <class Real>
std::vector<Real> spread_plane(const SlidingWindow& window, const Shape& input, const Shape& spread,
                               const Real* x) {
    std::vector<Real> plane(static_cast<std::size_t>(element_count(spread)), Real{});
    std::vector<std::int64_t> index(input.size(), 0);
    for (std::int64_t i = 0; i < element_count(input); ++i) {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < input.size(); ++d)
            at = at * spread[d] + index[d] * window.upsample[d];
        plane[static_cast<std::size_t>(at)] = x[i];
        for (std::size_t d = input.size(); d-- > 0;) {
            if (++index[d] < input[d]) break;
            index[d] = 0;
        }
    }
    return plane;
}

/// All rows for `channels` channels of the spatial extents `input`.
template <class Real>
void copy_columns(const SlidingWindow& window, const Shape& input, std::int64_t channels,
                  const Real* x, Real* columns) {
    if (!window.is_spread()) return copy_dense_columns(window, input, channels, x, columns);
    Shape spread = input;
    for (std::size_t d = 0; d < spread.size(); ++d)
        spread[d] = (spread[d] - 1) * window.upsample[d] + 1;
    const std::int64_t rows = element_count(window.kernel) * element_count(window.output);
    for (std::int64_t c = 0; c < channels; ++c)
        copy_dense_columns(window, spread, 1,
                           spread_plane(window, input, spread, x + c * element_count(input)).data(),
                           columns + c * rows);
}

/// A kernel of one tap that moves by one: the columns are the input.
inline bool is_pointwise(const SlidingWindow& window) {
    for (std::size_t d = 0; d < window.kernel.size(); ++d)
        if (window.kernel[d] != 1 || window.stride[d] != 1 || window.pad_begin[d] != 0 ||
            window.pad_end[d] != 0 || window.upsample[d] != 1)
            return false;
    return true;
}

}  // namespace lockstep::network::reference
