// SPDX-License-Identifier: Apache-2.0
// The window that a convolution or a pooling moves over an image.
#pragma once

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {

struct Window {
    int h, w, r, s, stride, pad, oh, ow;

    explicit Window(const Run& run)
        : h(run["h"]),
          w(run["w"]),
          r(run["r"]),
          s(run["s"]),
          stride(run["stride"]),
          pad(run["pad"]),
          oh((h + 2 * pad - r) / stride + 1),
          ow((w + 2 * pad - s) / stride + 1) {
        if (r > h + 2 * pad || s > w + 2 * pad) {
            throw InputError(fmt::format("the window {}x{} is larger than the padded image {}x{}",
                                         r, s, h + 2 * pad, w + 2 * pad));
        }
        if (pad >= r || pad >= s) {
            throw InputError(
                fmt::format("pad={} must be smaller than the window {}x{}", pad, r, s));
        }
    }

    /// Where in the image tap `a` of output `o` lies; -1 in the padding.
    int input_row(int o, int a) const { return inside(o * stride + a - pad, h); }
    int input_col(int o, int a) const { return inside(o * stride + a - pad, w); }

  private:
    static int inside(int i, int size) { return i >= 0 && i < size ? i : -1; }
};

inline std::vector<ParameterInfo> window_parameters(int size, int stride, int pad) {
    constexpr std::int64_t kMaxWindow = 1 << 12;
    return {
        size_parameter("r", size, "height of the window", kMaxWindow),
        size_parameter("s", size, "width of the window", kMaxWindow),
        size_parameter("stride", stride, "step of the window", kMaxWindow),
        {"pad", pad, 0, kMaxWindow, "rows and columns of padding on each side"},
    };
}

}  // namespace lockstep::cuda
