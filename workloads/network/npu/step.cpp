// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/step.h"

#include <algorithm>

#include "sim/numerics/integer.h"

namespace lockstep::network::npu_code {

/// The rows of the input that are among these of the spread image, at least one: where there is
/// none, any is read in vain (pad_above puts it out of reach).
Rows Window::input_rows(Rows windows, std::int64_t limit) const {
    const std::int64_t first = windows.begin * stride_height - pad_top;
    const std::int64_t last = (windows.end - 1) * stride_height - pad_top + reach();
    const auto above = [&](std::int64_t position) {
        return position <= 0 ? 0 : numerics::divide_up(position, upsample_height);
    };
    const std::int64_t begin = std::clamp<std::int64_t>(above(first), 0, limit - 1);
    return {begin, std::clamp<std::int64_t>(above(last), begin + 1, limit)};
}

std::int64_t Window::pad_above(Rows windows, Rows input) const {
    const std::int64_t pad =
        input.begin * upsample_height - (windows.begin * stride_height - pad_top);
    if (pad >= 0) return pad;
    // All windows are below the image: as well they may be above it.
    return (windows.count() - 1) * stride_height + reach();
}

bool Window::is_pointwise() const {
    return height == 1 && width == 1 && stride_height == 1 && stride_width == 1 && pad_top == 0 &&
           pad_left == 0 && upsample_height == 1 && upsample_width == 1;
}

numerics::ResizeAxis Step::resize_axis() const {
    using enum isa::Interpolation;
    return {input.box.h,
            output.box.h,
            {interpolation >= kBilinear,
             interpolation == kNearestHalfPixel || interpolation == kBilinearHalfPixel,
             interpolation == kNearestCorners || interpolation == kBilinearCorners}};
}

Rows Step::window_rows(Rows out) const {
    if (pool.mode == isa::PoolMode::kNone) return out;
    const std::int64_t first = out.begin * pool.stride_height - pool.top;
    const std::int64_t last = (out.end - 1) * pool.stride_height - pool.top + pool.height;
    return {std::max<std::int64_t>(0, first), std::min(last, window.rows)};
}

Rows Step::input_rows(Rows out) const {
    if (is_matrix_product()) return out;
    if (opcode == isa::Opcode::kResize) {
        const numerics::ResizeAxis axis = resize_axis();
        return {axis.at(out.begin).low, axis.at(out.end - 1).high + 1};
    }
    return window.input_rows(window_rows(out), input.box.h);
}

}  // namespace lockstep::network::npu_code
