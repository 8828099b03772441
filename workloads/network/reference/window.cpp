// SPDX-License-Identifier: Apache-2.0
// Convolution as an image-to-columns copy and one Eigen product a group and image; pooling as loops
// over the window. Any number of spatial dimensions. An average counts the padding only where
// count_include_pad says so. Source: the ONNX operator reference.
#include "workloads/network/window.h"

#include "workloads/network/reference/array.h"

#include <Eigen/Core>

#include <algorithm>
#include <limits>

namespace lockstep::network::reference {

namespace {

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Shape spatial(const Shape& shape) {
    return Shape(shape.begin() + 2, shape.end());
}

/// Calls f(o, k, offset) for each output position o and kernel tap k, both in row-major order;
/// offset of the input element in its plane, -1 in the padding, -2 where not even padding is
/// (ceil_mode).
template <class F>
void for_each_tap(const Window& window, const Shape& input, F&& f) {
    const size_t rank = window.kernel.size();
    const std::vector<int64_t> strides = strides_of(input);
    std::vector<int64_t> position(rank, 0), tap(rank, 0);
    const int64_t outputs = element_count(window.output), taps = element_count(window.kernel);
    const auto advance = [](std::vector<int64_t>& index, const Shape& extents) {
        for (size_t d = index.size(); d-- > 0;) {
            if (++index[d] < extents[d]) return;
            index[d] = 0;
        }
    };
    for (int64_t o = 0; o < outputs; ++o, advance(position, window.output))
        for (int64_t k = 0; k < taps; ++k, advance(tap, window.kernel)) {
            int64_t offset = 0;
            bool padding = false, outside = false;
            for (size_t d = 0; d < rank; ++d) {
                const int64_t at = position[d] * window.stride[d] + tap[d] * window.dilation[d] -
                                   window.pad_begin[d];
                padding |= at < 0 || at >= input[d];
                outside |= at >= input[d] + window.pad_end[d];
                offset += at * strides[d];
            }
            f(static_cast<size_t>(o), static_cast<size_t>(k), outside ? -2 : padding ? -1 : offset);
        }
}

template <class Real>
void convolution(const Step<Real>& step) {
    const Shape &sx = step.in[0]->shape, &sw = step.in[1]->shape;
    const Window window = window_of(step.node, sx, &sw);
    const Shape plane_shape = spatial(sx);
    const int64_t plane = element_count(plane_shape), taps = element_count(window.kernel),
                  outputs = element_count(window.output);
    const int64_t depth = sw[1], channels = sw[0] / window.group;
    if (step.out[0]->real.empty()) return;
    Matrix<Real> columns(depth * taps, outputs);
    for (int64_t n = 0; n < sx[0]; ++n)
        for (int64_t g = 0; g < window.group; ++g) {
            const Real* x = step.real(0).data() + (n * sx[1] + g * depth) * plane;
            for_each_tap(window, plane_shape, [&](size_t o, size_t k, int64_t offset) {
                for (int64_t c = 0; c < depth; ++c)
                    columns(c * taps + static_cast<int64_t>(k), static_cast<int64_t>(o)) =
                        offset < 0 ? Real{} : x[c * plane + offset];
            });
            const int64_t first = g * channels;
            const Eigen::Map<const Matrix<Real>> w(step.real(1).data() + first * depth * taps,
                                                   channels, depth * taps);
            Eigen::Map<Matrix<Real>> out(step.out[0]->real.data() + (n * sw[0] + first) * outputs,
                                         channels, outputs);
            if (channels == 1)
                out.noalias() = w.lazyProduct(columns);
            else
                out.noalias() = w * columns;
            if (step.has(2))
                for (int64_t c = 0; c < channels; ++c)
                    out.row(c).array() += step.real(2)[static_cast<size_t>(first + c)];
        }
}

template <class Real>
void pool(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const Window window = window_of(step.node, shape);
    const Shape plane_shape = spatial(shape);
    const bool maximum = step.node.op == Operator::kMaxPool;
    const bool count_padding = step.node.integer("count_include_pad", 0) != 0;
    const int64_t plane = element_count(plane_shape), outputs = element_count(window.output);
    std::vector<int64_t> count(static_cast<size_t>(outputs));
    for (int64_t p = 0; p < shape[0] * shape[1]; ++p) {
        const Real* x = step.real(0).data() + p * plane;
        Real* out = step.out[0]->real.data() + p * outputs;
        std::fill_n(out, outputs, maximum ? std::numeric_limits<Real>::lowest() : Real{});
        std::fill(count.begin(), count.end(), 0);
        for_each_tap(window, plane_shape, [&](size_t o, size_t, int64_t offset) {
            count[o] += offset >= 0 || (count_padding && offset == -1);
            if (offset >= 0) out[o] = maximum ? std::max(out[o], x[offset]) : out[o] + x[offset];
        });
        for (size_t o = 0; o < count.size() && !maximum; ++o)
            out[o] /= static_cast<Real>(std::max<int64_t>(1, count[o]));
    }
}

template <class Real>
void global_average(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const auto extent = static_cast<size_t>(element_count(spatial(shape)));
    for (size_t p = 0; p < step.out[0]->real.size(); ++p) {
        Real sum = 0;
        for (size_t i = 0; i < extent; ++i) sum += step.real(0)[p * extent + i];
        step.out[0]->real[p] = sum / static_cast<Real>(extent);
    }
}

}  // namespace

template <class Real>
bool run_window(const Step<Real>& step) {
    switch (step.node.op) {
        case Operator::kConv:
            convolution(step);
            return true;
        case Operator::kMaxPool:
        case Operator::kAveragePool:
            pool(step);
            return true;
        case Operator::kGlobalAveragePool:
            global_average(step);
            return true;
        default:
            return false;
    }
}

template bool run_window(const Step<float>&);
template bool run_window(const Step<double>&);

}  // namespace lockstep::network::reference
