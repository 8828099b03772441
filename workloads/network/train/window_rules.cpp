// SPDX-License-Identifier: Apache-2.0
// Gradients of convolution and pooling. Of y = x * w: dx is the transposed convolution of dy with
// w; dw is a convolution too, of x with dy as its filters, where batch and channels change places
// and stride and dilation do. Source: Dumoulin and Visin, "A guide to convolution arithmetic for
// deep learning" (2016), chapter 4.
#include <algorithm>
#include <numeric>

#include "workloads/network/shapes/window.h"
#include "workloads/network/train/rule.h"

namespace lockstep::network::training {

namespace {

using Integers = std::vector<std::int64_t>;

/// Images from what their windows gave: [n, m, out...] with filters [m, c / g, k...] to the extents
/// of the input.
ValueId spread(Rule& r, const std::string& part, ValueId y, ValueId filters,
               const SlidingWindow& window, const Shape& input, std::int64_t groups) {
    const std::size_t rank = window.kernel.size();
    Integers pads = window.pad_begin, more(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        // What windows cover, counted from the first of the padding; the rest was never read.
        const std::int64_t cover = (window.output[d] - 1) * window.stride[d] +
                                   (window.kernel[d] - 1) * window.dilation[d] + 1,
                           end = input[d + 2] + window.pad_begin[d];
        pads.push_back(std::max<std::int64_t>(0, cover - end));
        more[d] = std::max<std::int64_t>(0, end - cover);
    }
    return r.op(kConvTranspose, part, {y, filters},
                {{"strides", window.stride},
                 {"dilations", window.dilation},
                 {"pads", pads},
                 {"output_padding", more},
                 {"group", groups}});
}

/// Batch and channels change places; of groups, each keeps its channels: [n, g c, ...] as
/// [c, g n, ...].
ValueId turned(Rule& r, const std::string& part, ValueId x, std::int64_t groups) {
    const Shape shape = r.w.shape(x);
    Shape apart = {shape[0], groups, shape[1] / groups},
          together = {shape[1] / groups, groups * shape[0]};
    apart.insert(apart.end(), shape.begin() + 2, shape.end());
    together.insert(together.end(), shape.begin() + 2, shape.end());
    Integers perm(groups == 1 ? shape.size() : apart.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[0], perm[groups == 1 ? 1 : 2]);
    if (groups == 1) return r.w.transpose(r.name(part), x, perm);
    x = r.w.reshape(r.name(part + ".groups"), x, apart);
    return r.w.reshape(r.name(part), r.w.transpose(r.name(part + ".turn"), x, perm), together);
}

void convolution(Rule& r) {
    const Shape x = r.shape(r.in(0)), filters = r.shape(r.in(1));
    const SlidingWindow window = window_of(r.node, x, &filters);
    const std::size_t rank = window.kernel.size();
    if (r.needs(0)) r.give(0, spread(r, "x", r.dy(), r.in(1), window, x, window.group));
    if (r.needs(1)) {
        Integers pads = window.pad_begin;
        for (std::size_t d = 0; d < rank; ++d) {
            // Windows may have left the last elements, padding or not.
            const std::int64_t left = x[d + 2] + window.pad_begin[d] + window.pad_end[d] -
                                      (window.output[d] - 1) * window.stride[d] -
                                      (window.kernel[d] - 1) * window.dilation[d] - 1;
            pads.push_back(std::max<std::int64_t>(0, window.pad_end[d] - left));
        }
        ValueId g = r.op(kConv, "filters",
                         {turned(r, "images", r.in(0), window.group), turned(r, "dy", r.dy(), 1)},
                         {{"strides", window.dilation},
                          {"dilations", window.stride},
                          {"pads", pads},
                          {"group", window.group}});
        Shape wanted = r.w.shape(g);
        std::copy(window.kernel.begin(), window.kernel.end(), wanted.begin() + 2);
        if (wanted != r.w.shape(g))
            g = r.op(kSlice, "filters.kept",
                     {g, r.w.integers(r.name("filters.from"), Integers(wanted.size(), 0)),
                      r.w.integers(r.name("filters.to"), wanted)});
        r.give(1, turned(r, "filters.turned", g, 1));
    }
    if (r.needs(2)) {
        Integers axes(rank + 2);
        std::iota(axes.begin(), axes.end(), 0);
        axes.erase(axes.begin() + 1);
        r.give(2, r.w.reshape(r.name("bias"), r.sum("bias.sum", r.dy(), axes), {filters[0]}));
    }
}

void max_pool(Rule& r) {
    r.give(0, r.op(kMaxPoolGrad, "x", {r.in(0), r.dy()}, r.node.attributes));
}

/// Each element of a window gets its share; how many share one depends on the padding alone.
void average_pool(Rule& r) {
    const Shape x = r.shape(r.in(0)), y = r.shape(r.out());
    const SlidingWindow window = window_of(r.node, x);
    const std::size_t rank = window.kernel.size();
    const bool counts_padding = r.node.integer("count_include_pad", 0) != 0;
    std::vector<double> shares(static_cast<std::size_t>(element_count(window.output)));
    Shape extents = y;
    extents[0] = extents[1] = 1;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        auto rest = static_cast<std::int64_t>(i);
        double count = 1;
        for (std::size_t d = rank; d-- > 0;) {
            const std::int64_t first =
                rest % window.output[d] * window.stride[d] - window.pad_begin[d];
            const std::int64_t low = counts_padding ? -window.pad_begin[d] : 0,
                               high = x[d + 2] + (counts_padding ? window.pad_end[d] : 0);
            rest /= window.output[d];
            count *= static_cast<double>(std::min(first + window.kernel[d], high) -
                                         std::max(first, low));
        }
        shares[i] = 1 / std::max(1.0, count);
    }
    Shape kernel = window.kernel;
    kernel.insert(kernel.begin(), {x[1], 1});
    const std::vector<double> ones(static_cast<std::size_t>(element_count(kernel)), 1);
    const ValueId share = r.w.reals(r.name("shares"), r.type(r.out()), extents, shares);
    r.give(0, spread(r, "x", r.times("share", r.dy(), share),
                     r.w.reals(r.name("ones"), r.type(r.out()), kernel, ones), window, x, x[1]));
}

void global_average(Rule& r) {
    const Shape x = r.shape(r.in(0));
    const auto area = static_cast<double>(element_count(Shape(x.begin() + 2, x.end())));
    const ValueId share = r.times("share", r.dy(), 1 / area);
    r.give(0, r.op(kExpand, "x", {share, r.w.integers(r.name("extents"), x)}));
}

void global_maximum(Rule& r) {
    const Shape x = r.shape(r.in(0));
    r.give(0, r.op(kMaxPoolGrad, "x", {r.in(0), r.dy()},
                   {{"kernel_shape", Integers(x.begin() + 2, x.end())}}));
}

constexpr RuleRow kRows[] = {
    {kAveragePool, average_pool},     {kConv, convolution}, {kGlobalAveragePool, global_average},
    {kGlobalMaxPool, global_maximum}, {kMaxPool, max_pool},
};

}  // namespace

std::span<const RuleRow> window_rules() {
    return kRows;
}

}  // namespace lockstep::network::training
