// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/step.h"

#include <algorithm>

namespace lockstep::network::npu_code {

Rows Window::input_rows(Rows windows, std::int64_t limit) const {
    const std::int64_t first = windows.begin * stride_height - pad_top;
    const std::int64_t last =
        (windows.end - 1) * stride_height - pad_top + (height - 1) * dilation_height + 1;
    const std::int64_t begin = std::clamp<std::int64_t>(first, 0, limit - 1);
    return {begin, std::clamp<std::int64_t>(last, begin + 1, limit)};
}

bool Window::is_pointwise() const {
    return height == 1 && width == 1 && stride_height == 1 && stride_width == 1 && pad_top == 0 &&
           pad_left == 0;
}

Rows Step::window_rows(Rows out) const {
    if (pool.mode == isa::PoolMode::kNone) return out;
    const std::int64_t first = out.begin * pool.stride_height - pool.top;
    const std::int64_t last = (out.end - 1) * pool.stride_height - pool.top + pool.height;
    return {std::max<std::int64_t>(0, first), std::min(last, window.rows)};
}

Rows Step::input_rows(Rows out) const {
    if (needs_all_rows()) return {0, input.box.h};
    return window.input_rows(window_rows(out), input.box.h);
}

}  // namespace lockstep::network::npu_code
