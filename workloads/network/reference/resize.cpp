// SPDX-License-Identifier: Apache-2.0
// ResizeBilinear on real values, as TensorFlow Lite's reference kernel for floats: the four
// neighbours by their distances. Stored integers have fractions of 1/1024 (sim/numerics/resize.h).
// Source: TensorFlow Lite (LiteRT), kernels/internal/reference/resize_bilinear.h.
#include <algorithm>
#include <cmath>

#include "workloads/network/reference/array.h"

namespace lockstep::network::reference {

namespace {

struct Between {
    std::size_t low = 0, high = 0;
    double fraction = 0;
};

std::vector<Between> sources(const Node& node, std::int64_t in, std::int64_t out) {
    const bool corners = node.integer("align_corners", 0) != 0 && out > 1,
               half = node.integer("half_pixel_centers", 0) != 0;
    const double scale = corners ? static_cast<double>(in - 1) / static_cast<double>(out - 1)
                                 : static_cast<double>(in) / static_cast<double>(out);
    std::vector<Between> result;
    for (std::int64_t o = 0; o < out; ++o) {
        const double at =
            half ? (static_cast<double>(o) + 0.5) * scale - 0.5 : static_cast<double>(o) * scale;
        const double low = std::max(0.0, std::floor(at));
        result.push_back({static_cast<std::size_t>(low),
                          static_cast<std::size_t>(
                              std::clamp<double>(std::ceil(at), 0, static_cast<double>(in - 1))),
                          at - low});
    }
    return result;
}

}  // namespace

template <class Real>
bool run_resize(const Step<Real>& step) {
    const Shape &in = step.in[0]->shape, &out = step.out[0]->shape;
    if (!is_floating(step.in[0]->type)) return false;
    const std::vector<Between> rows = sources(step.node, in[2], out[2]),
                               columns = sources(step.node, in[3], out[3]);
    const auto height = static_cast<std::size_t>(in[2]), width = static_cast<std::size_t>(in[3]);
    Real* to = step.out[0]->real.data();
    for (std::size_t plane = 0; plane < static_cast<std::size_t>(in[0] * in[1]); ++plane) {
        const Real* x = step.real(0).data() + plane * height * width;
        const auto line = [&](std::size_t row, const Between& c) {
            return (1 - c.fraction) * double{x[row * width + c.low]} +
                   c.fraction * double{x[row * width + c.high]};
        };
        for (const Between& r : rows)
            for (const Between& c : columns)
                *to++ = static_cast<Real>((1 - r.fraction) * line(r.low, c) +
                                          r.fraction * line(r.high, c));
    }
    return true;
}

template bool run_resize(const Step<float>&);
template bool run_resize(const Step<double>&);

}  // namespace lockstep::network::reference
