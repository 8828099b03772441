// SPDX-License-Identifier: Apache-2.0
// Resampling is linear and one axis at a time: along each axis that changes, a product with a
// constant matrix whose column o holds what each input element gives to output element o (at most
// 2 of them are not 0 for linear, 4 for cubic interpolation); nearest only moves elements. XLA
// writes jax.image.resize in the same way. Source: the ONNX operator reference, Resize.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "workloads/network/decompose/parts.h"

namespace lockstep::network::decomposing {

namespace {

constexpr std::int64_t kMaximumMatrix = std::int64_t{1} << 24;

/// One axis: input and output extent, and how many output steps an input step is.
struct Axis {
    std::int64_t in = 1, out = 1;
    double scale = 1;
};

struct Resampling {
    std::string coordinates, nearest, mode;
    double cubic = -0.75;
    bool exclude_outside = false;

    /// Where output element o lies among the input's elements.
    double position(const Axis& a, std::int64_t o) const {
        const auto x = static_cast<double>(o);
        if (coordinates == "align_corners")
            return a.out == 1 ? 0
                              : x * static_cast<double>(a.in - 1) / static_cast<double>(a.out - 1);
        if (coordinates == "asymmetric") return x / a.scale;
        if (coordinates == "pytorch_half_pixel" && a.out == 1) return 0;
        return (x + 0.5) / a.scale - 0.5;
    }

    std::int64_t nearest_index(const Axis& a, std::int64_t o) const {
        // The quotient of two extents may miss a whole number by its rounding.
        double x = position(a, o);
        if (std::abs(x - std::round(x)) < 1e-9 * static_cast<double>(a.in)) x = std::round(x);
        const double index = nearest == "floor"               ? std::floor(x)
                             : nearest == "ceil"              ? std::ceil(x)
                             : nearest == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                              : std::ceil(x - 0.5);
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(index), 0, a.in - 1);
    }

    /// Weights of the input elements first, first + 1, ...
    std::vector<double> taps(double fraction) const {
        if (mode == "linear") return {1 - fraction, fraction};
        const double a = cubic;
        const auto near = [&](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
        const auto far = [&](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
        return {far(fraction + 1), near(fraction), near(1 - fraction), far(2 - fraction)};
    }

    /// in x out
    std::vector<double> matrix(const Axis& axis) const {
        std::vector<double> result(static_cast<std::size_t>(axis.in * axis.out), 0);
        for (std::int64_t o = 0; o < axis.out; ++o) {
            const double x = position(axis, o), whole = std::floor(x);
            std::vector<double> weights = taps(x - whole);
            const std::int64_t first = static_cast<std::int64_t>(whole) - (mode == "cubic" ? 1 : 0);
            double sum = 0;
            for (std::size_t t = 0; t < weights.size(); ++t) {
                const std::int64_t i = first + static_cast<std::int64_t>(t);
                if (exclude_outside && (i < 0 || i >= axis.in)) weights[t] = 0;
                sum += weights[t];
            }
            for (std::size_t t = 0; t < weights.size(); ++t) {
                const std::int64_t i =
                    std::clamp<std::int64_t>(first + static_cast<std::int64_t>(t), 0, axis.in - 1);
                result[static_cast<std::size_t>(i * axis.out + o)] +=
                    exclude_outside ? weights[t] / sum : weights[t];
            }
        }
        return result;
    }
};

Resampling read_resampling(const Node& node) {
    Resampling r{node.text("coordinate_transformation_mode", "half_pixel"),
                 node.text("nearest_mode", "round_prefer_floor"), node.text("mode", "nearest"),
                 node.real("cubic_coeff_a", -0.75f), node.integer("exclude_outside", 0) != 0};
    const auto is_one_of = [](const std::string& text, std::initializer_list<const char*> list) {
        return std::find(list.begin(), list.end(), text) != list.end();
    };
    if (!is_one_of(r.coordinates,
                   {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"}))
        fail(node, "coordinate_transformation_mode " + r.coordinates + " is not supported");
    if (!is_one_of(r.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))
        fail(node, "nearest_mode " + r.nearest + " is not supported");
    if (!is_one_of(r.mode, {"nearest", "linear", "cubic"}))
        fail(node, "mode " + r.mode + " is not supported");
    return r;
}

std::vector<Axis> read_axes(const Graph& graph, const Node& node) {
    const Shape& in = graph.shape(node.inputs.at(0));
    const auto given = [&](std::size_t i) {
        return node.input(i) != kNoValue && element_count(graph.shape(node.inputs[i])) != 0;
    };
    std::vector<Axis> axes(in.size());
    if (given(2) == given(3)) fail(node, "needs scales or sizes");
    std::vector<double> scales;
    std::vector<std::int64_t> sizes;
    if (given(3)) {
        sizes = known_integers(graph, node, 3);
    } else {
        const Value& value = graph.value(node.inputs[2]);
        if (!value.is_known() || !is_floating(value.type))
            fail(node, fmt::format("scales ({}) are not known before the run", value.name));
        scales = to_doubles(*value.data);
    }
    if (std::max(scales.size(), sizes.size()) != in.size())
        fail(node, fmt::format("{} scales or sizes for {}", std::max(scales.size(), sizes.size()),
                               to_string(in)));
    for (std::size_t d = 0; d < in.size(); ++d) {
        Axis& axis = axes[d];
        axis.in = in[d];
        const auto extent = static_cast<double>(in[d]);
        const double out =
            sizes.empty() ? std::floor(extent * scales[d]) : static_cast<double>(sizes[d]);
        if (!(out >= 0 && out < 0x1p24) || (in[d] == 0 && out != 0))
            fail(node, fmt::format("{} to {} elements", in[d], out));
        axis.out = static_cast<std::int64_t>(out);
        axis.scale = sizes.empty() ? scales[d] : out / extent;
    }
    return axes;
}

}  // namespace

void write_resize(NodeWriter& w, const Graph& graph, const Node& node) {
    const Resampling resampling = read_resampling(node);
    const std::vector<Axis> axes = read_axes(graph, node);
    ValueId x = node.inputs.at(0);
    for (std::size_t d = 0; d < axes.size(); ++d) {
        const Axis& axis = axes[d];
        if (axis.in == axis.out && axis.scale == 1) continue;
        const std::string name = fmt::format("{}.axis{}", node.name, d);
        if (resampling.mode == "nearest") {
            std::vector<std::int64_t> indices(static_cast<std::size_t>(axis.out));
            for (std::int64_t o = 0; o < axis.out; ++o)
                indices[static_cast<std::size_t>(o)] = resampling.nearest_index(axis, o);
            x = w.add(Operator::kGather, name, {x, w.integers(name + ".indices", indices)},
                      {{"axis", static_cast<std::int64_t>(d)}});
            continue;
        }
        if (!is_floating(w.type(x))) fail(node, "interpolates integers");
        if (axis.in > kMaximumMatrix || axis.in * axis.out > kMaximumMatrix)
            fail(node, fmt::format("an axis of {} to {} elements", axis.in, axis.out));
        std::vector<std::int64_t> perm(axes.size());
        std::iota(perm.begin(), perm.end(), 0);
        std::swap(perm[d], perm.back());
        const bool turns = d + 1 != axes.size();
        if (turns) x = w.transpose(name + ".turn", x, perm);
        const ValueId matrix =
            w.reals(name + ".weights", w.type(x), {axis.in, axis.out}, resampling.matrix(axis));
        x = w.add(Operator::kMatMul, name, {x, matrix});
        if (turns) x = w.transpose(name + ".return", x, perm);
    }
    w.give(x, node.outputs.at(0));
}

}  // namespace lockstep::network::decomposing
