// SPDX-License-Identifier: Apache-2.0
// Convolution as an image-to-columns copy and one Eigen product a group and image; pooling as loops
// over the window. Any number of spatial dimensions. An average counts the padding only where
// count_include_pad says so. Source: the ONNX operator reference.
#include "workloads/network/shapes/window.h"

#include <algorithm>
#include <limits>

#include "workloads/network/reference/array.h"
#include "workloads/network/reference/columns.h"
#include "workloads/network/reference/product.h"

namespace lockstep::network::reference {

namespace {

Shape spatial(const Shape& shape) {
    return Shape(shape.begin() + 2, shape.end());
}

/// Calls f(o, k, offset) for each output position o and kernel tap k, both in row-major order;
/// offset of the input element in its plane, -1 in the padding, -2 where not even padding is
/// (ceil_mode).
template <class F>
void for_each_tap(const SlidingWindow& window, const Shape& input, F&& f) {
    const std::size_t rank = window.kernel.size();
    const std::vector<std::int64_t> strides = strides_of(input);
    std::vector<std::int64_t> position(rank, 0), tap(rank, 0);
    const std::int64_t outputs = element_count(window.output), taps = element_count(window.kernel);
    const auto advance = [](std::vector<std::int64_t>& index, const Shape& extents) {
        for (std::size_t d = index.size(); d-- > 0;) {
            if (++index[d] < extents[d]) return;
            index[d] = 0;
        }
    };
    for (std::int64_t o = 0; o < outputs; ++o, advance(position, window.output))
        for (std::int64_t k = 0; k < taps; ++k, advance(tap, window.kernel)) {
            std::int64_t offset = 0;
            bool padding = false, outside = false;
            for (std::size_t d = 0; d < rank; ++d) {
                const std::int64_t at = position[d] * window.stride[d] +
                                        tap[d] * window.dilation[d] - window.pad_begin[d];
                padding |= at < 0 || at >= input[d];
                outside |= at >= input[d] + window.pad_end[d];
                offset += at * strides[d];
            }
            f(static_cast<std::size_t>(o), static_cast<std::size_t>(k),
              outside   ? -2
              : padding ? -1
                        : offset);
        }
}

template <class Real>
void convolution(const Step<Real>& step) {
    const Shape &sx = step.in[0]->shape, &sw = step.in[1]->shape;
    const SlidingWindow window = spread_window_of(step.node, sx, sw);
    const Shape plane_shape = spatial(sx);
    const std::int64_t plane = element_count(plane_shape), taps = element_count(window.kernel),
                       outputs = element_count(window.output);
    const std::int64_t depth = sw[1], channels = sw[0] / window.group;
    if (step.out[0]->real.empty()) return;
    const bool pointwise = is_pointwise(window);
    RowMajor<Real> columns(pointwise ? 0 : depth * taps, pointwise ? 0 : outputs);
    for (std::int64_t n = 0; n < sx[0]; ++n)
        for (std::int64_t g = 0; g < window.group; ++g) {
            const Real* x = step.real(0).data() + (n * sx[1] + g * depth) * plane;
            if (!pointwise)
                for_ranges(depth, 1, static_cast<double>(columns.size()),
                           [&](std::int64_t begin, std::int64_t end) {
                               copy_columns(window, plane_shape, end - begin, x + begin * plane,
                                            columns.data() + begin * taps * outputs);
                           });
            const std::int64_t first = g * channels;
            const View<Real> w(step.real(1).data() + first * depth * taps, channels, depth * taps);
            const View<Real> all(pointwise ? x : columns.data(), depth * taps, outputs);
            Target<Real> out(step.out[0]->real.data() + (n * sw[0] + first) * outputs, channels,
                             outputs);
            if (channels == 1)
                multiply_by_rows<Real>(out, w, all);
            else
                multiply<Real>(out, w, all);
            if (step.has(2))
                for (std::int64_t c = 0; c < channels; ++c)
                    out.row(c).array() += step.real(2)[static_cast<std::size_t>(first + c)];
        }
}

template <class Real>
void max_pool(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const SlidingWindow window = window_of(step.node, shape);
    const Shape plane_shape = spatial(shape);
    const std::int64_t plane = element_count(plane_shape), outputs = element_count(window.output);
    for (std::int64_t p = 0; p < shape[0] * shape[1]; ++p) {
        const Real* x = step.real(0).data() + p * plane;
        Real* out = step.out[0]->real.data() + p * outputs;
        std::fill_n(out, outputs, std::numeric_limits<Real>::lowest());
        for_each_tap(window, plane_shape, [&](std::size_t o, std::size_t, std::int64_t offset) {
            if (offset >= 0) out[o] = std::max(out[o], x[offset]);
        });
    }
}

/// Of equal elements the first is taken, as PyTorch does.
template <class Real>
void max_pool_gradient(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const SlidingWindow window = window_of(step.node, shape);
    const Shape plane_shape = spatial(shape);
    const std::int64_t plane = element_count(plane_shape), outputs = element_count(window.output);
    std::vector<std::int64_t> largest(static_cast<std::size_t>(outputs));
    for (std::int64_t p = 0; p < shape[0] * shape[1]; ++p) {
        const Real* x = step.real(0).data() + p * plane;
        const Real* dy = step.real(1).data() + p * outputs;
        Real* dx = step.out[0]->real.data() + p * plane;
        std::fill(largest.begin(), largest.end(), -1);
        for_each_tap(window, plane_shape, [&](std::size_t o, std::size_t, std::int64_t offset) {
            if (offset >= 0 && (largest[o] < 0 || x[offset] > x[largest[o]])) largest[o] = offset;
        });
        for (std::size_t o = 0; o < largest.size(); ++o)
            if (largest[o] >= 0) dx[largest[o]] += dy[o];
    }
}

/// Bytes: of int8 and uint8 the order is that of the numbers.
template <class Real>
void integer_max_pool(const Step<Real>& step) {
    const std::vector<std::int64_t>& in = step.in[0]->integer;
    Array<double> x{step.in[0]->shape, ElementType::kFp64, {in.begin(), in.end()}, {}};
    Array<double> y{step.out[0]->shape, ElementType::kFp64, {}, {}};
    y.real.resize(step.out[0]->integer.size());
    max_pool(Step<double>{step.graph, step.node, {&x}, {&y}});
    const double lowest = step.in[0]->type == ElementType::kInt8 ? -128 : 0;
    for (std::size_t i = 0; i < y.real.size(); ++i)
        step.out[0]->integer[i] = static_cast<std::int64_t>(std::max(y.real[i], lowest));
}

template <class Real>
void global_maximum(const Step<Real>& step) {
    std::vector<Real>& out = step.out[0]->real;
    const std::size_t plane = out.empty() ? 0 : step.real(0).size() / out.size();
    for (std::size_t p = 0; p < out.size(); ++p) {
        out[p] = std::numeric_limits<Real>::lowest();
        for (std::size_t i = 0; i < plane; ++i)
            out[p] = std::max(out[p], step.real(0)[p * plane + i]);
    }
}

template <class Real>
void average(const Step<Real>& step) {
    const std::vector<std::int64_t> counts = pool_sums(step);
    for (std::size_t i = 0; i < counts.size(); ++i)
        step.out[0]->real[i] /= static_cast<Real>(counts[i]);
}

}  // namespace

template <class Real>
std::vector<std::int64_t> pool_sums(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const Shape plane_shape = spatial(shape);
    const std::int64_t plane = element_count(plane_shape), planes = shape[0] * shape[1];
    std::vector<Real>& sums = step.out[0]->real;
    if (step.node.op == Operator::kGlobalAveragePool) {
        for (std::int64_t p = 0; p < planes; ++p)
            for (std::int64_t i = 0; i < plane; ++i)
                sums[static_cast<std::size_t>(p)] +=
                    step.real(0)[static_cast<std::size_t>(p * plane + i)];
        return std::vector<std::int64_t>(sums.size(), plane);
    }
    const SlidingWindow window = window_of(step.node, shape);
    const bool count_padding = step.node.integer("count_include_pad", 0) != 0;
    const std::int64_t outputs = element_count(window.output);
    std::vector<std::int64_t> counts(sums.size(), 0);
    for (std::int64_t p = 0; p < planes; ++p) {
        const Real* x = step.real(0).data() + p * plane;
        Real* out = sums.data() + p * outputs;
        std::int64_t* count = counts.data() + p * outputs;
        for_each_tap(window, plane_shape, [&](std::size_t o, std::size_t, std::int64_t offset) {
            count[o] += offset >= 0 || (count_padding && offset == -1);
            if (offset >= 0) out[o] += x[offset];
        });
    }
    for (std::int64_t& count : counts) count = std::max<std::int64_t>(1, count);
    return counts;
}

template std::vector<std::int64_t> pool_sums(const Step<float>&);
template std::vector<std::int64_t> pool_sums(const Step<double>&);

template <class Real>
bool run_window(const Step<Real>& step) {
    switch (step.node.op) {
        case Operator::kConv:
            convolution(step);
            return true;
        case Operator::kMaxPool:
            is_floating(step.in[0]->type) ? max_pool(step) : integer_max_pool(step);
            return true;
        case Operator::kMaxPoolGrad:
            max_pool_gradient(step);
            return true;
        case Operator::kGlobalMaxPool:
            global_maximum(step);
            return true;
        case Operator::kAveragePool:
        case Operator::kGlobalAveragePool:
            average(step);
            return true;
        default:
            return false;
    }
}

template bool run_window(const Step<float>&);
template bool run_window(const Step<double>&);

}  // namespace lockstep::network::reference
