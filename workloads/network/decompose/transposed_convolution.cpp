// SPDX-License-Identifier: Apache-2.0
// A transposed convolution is a convolution, with the filters turned around, of the image with
// stride - 1 zeros after each element (Dumoulin and Visin, "A guide to convolution arithmetic for
// deep learning", 2016, chapter 4). Products with those zeros are computed, as on a machine without
// an addressing mode for them.
#include <algorithm>

#include "workloads/network/decompose/parts.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::decomposing {

namespace {

constexpr std::int64_t kMaximumExtent = std::int64_t{1} << 30;

std::vector<std::int64_t> list(const Node& node, const char* attribute, std::size_t count,
                               std::int64_t otherwise) {
    std::vector<std::int64_t> values =
        node.integers(attribute, std::vector<std::int64_t>(count, otherwise));
    if (values.size() != count)
        fail(node, fmt::format("{} has {} values, not {}", attribute, values.size(), count));
    for (const std::int64_t value : values)
        if (value < 0 || value > kMaximumExtent) fail(node, fmt::format("{} {}", attribute, value));
    return values;
}

/// [C, M / g, k...] with C = g c: as [M, c, k...], each filter backwards.
ValueId turned_filters(NodeWriter& w, const Node& node, std::int64_t groups) {
    const std::string name = node.name + ".filters";
    const Shape old = w.shape(node.inputs[1]);
    Shape apart = {groups, old[0] / groups}, together = {old[1] * groups, old[0] / groups};
    apart.insert(apart.end(), old.begin() + 1, old.end());
    together.insert(together.end(), old.begin() + 2, old.end());
    std::vector<std::int64_t> perm = {0, 2, 1}, axes, from, to, steps;
    for (std::size_t d = 2; d < old.size(); ++d) {
        perm.push_back(static_cast<std::int64_t>(d + 1));
        axes.push_back(static_cast<std::int64_t>(d));
        from.push_back(-1);
        to.push_back(INT64_MIN);
        steps.push_back(-1);
    }
    ValueId x = w.reshape(name + ".groups", node.inputs[1], apart);
    x = w.transpose(name + ".turn", x, perm);
    x = w.reshape(name + ".together", x, together);
    return w.add(Operator::kSlice, name,
                 {x, w.integers(name + ".from", from), w.integers(name + ".to", to),
                  w.integers(name + ".axes", axes), w.integers(name + ".steps", steps)});
}

/// stride - 1 zeros after each element of the spatial dimensions.
ValueId spread(NodeWriter& w, const Node& node, ValueId x,
               const std::vector<std::int64_t>& strides) {
    if (std::all_of(strides.begin(), strides.end(), [](std::int64_t s) { return s == 1; }))
        return x;
    const Shape in = w.shape(x);
    Shape apart = {in[0], in[1]}, wide = {in[0], in[1]};
    std::vector<std::int64_t> pads(2 + 2 * strides.size(), 0), end = pads;
    for (std::size_t d = 0; d < strides.size(); ++d) {
        apart.insert(apart.end(), {in[d + 2], 1});
        wide.push_back(in[d + 2] * strides[d]);
        if (in[d + 2] > kMaximumExtent / strides[d]) fail(node, "too large");
        end[2 + 2 * d + 1] = strides[d] - 1;
    }
    pads.insert(pads.end(), end.begin(), end.end());
    const std::string name = node.name + ".spread";
    x = w.reshape(name + ".apart", x, apart);
    x = w.add(Operator::kPad, name, {x, w.integers(name + ".pads", pads)});
    return w.reshape(name + ".together", x, wide);
}

}  // namespace

void write_transposed_convolution(NodeWriter& w, const Graph&, const Node& node) {
    const Shape x = w.shape(node.inputs.at(0)), filters = w.shape(node.inputs.at(1));
    const std::int64_t groups = node.integer("group", 1);
    if (x.size() < 3 || filters.size() != x.size() || groups < 1 || filters[0] != x[1] ||
        x[1] % groups != 0 || !is_floating(w.type(node.inputs[0])))
        fail(node, fmt::format("input {} and weight {} in {} groups", to_string(x),
                               to_string(filters), groups));
    const std::size_t count = x.size() - 2;
    const std::vector<std::int64_t> kernel(filters.begin() + 2, filters.end());
    if (node.has("kernel_shape") && node.integers("kernel_shape") != kernel)
        fail(node, "kernel_shape is not the weight's");
    const std::vector<std::int64_t> strides = list(node, "strides", count, 1),
                                    dilations = list(node, "dilations", count, 1),
                                    more = list(node, "output_padding", count, 0);
    std::vector<std::int64_t> pads = list(node, "pads", 2 * count, 0);
    for (std::size_t d = 0; d < count; ++d)
        if (strides[d] < 1 || dilations[d] < 1 || kernel[d] < 1 || kernel[d] > kMaximumExtent ||
            x[d + 2] > kMaximumExtent)
            fail(node, "an empty or too large window");
    const std::string mode = node.text("auto_pad", "NOTSET");
    const auto reach = [&](std::size_t d) { return (kernel[d] - 1) * dilations[d] + 1; };
    const bool shaped = node.has("output_shape");
    if (shaped || mode == "SAME_UPPER" || mode == "SAME_LOWER") {
        const std::vector<std::int64_t> wanted =
            shaped ? list(node, "output_shape", count, 0) : Shape();
        for (std::size_t d = 0; d < count; ++d) {
            const std::int64_t out = shaped ? wanted[d] : x[d + 2] * strides[d];
            const std::int64_t total =
                std::max<std::int64_t>(0, strides[d] * (x[d + 2] - 1) + more[d] + reach(d) - out);
            const std::int64_t small = total / 2, large = total - small;
            pads[d] = mode == "SAME_UPPER" ? small : large;
            pads[count + d] = mode == "SAME_UPPER" ? large : small;
        }
    } else if (mode != "NOTSET" && mode != "VALID") {
        fail(node, "auto_pad " + mode);
    }
    ValueId image = spread(w, node, node.inputs[0], strides);
    // What the convolution pads; where that is less than nothing, what is cut off.
    std::vector<std::int64_t> around(2 * count), from(count), to(count), axes(count);
    bool cuts = false;
    for (std::size_t d = 0; d < count; ++d) {
        const std::int64_t before = reach(d) - 1 - pads[d],
                           after = reach(d) - 1 - pads[count + d] + more[d] - (strides[d] - 1);
        around[d] = std::max<std::int64_t>(0, before);
        around[count + d] = std::max<std::int64_t>(0, after);
        const std::int64_t extent = w.shape(image)[d + 2];
        from[d] = std::max<std::int64_t>(0, -before);
        to[d] = extent + std::min<std::int64_t>(0, after);
        axes[d] = static_cast<std::int64_t>(d) + 2;
        if (from[d] >= to[d]) fail(node, "an empty output");
        cuts |= from[d] != 0 || to[d] != extent;
    }
    if (cuts) {
        const std::string name = node.name + ".cut";
        image = w.add(Operator::kSlice, name,
                      {image, w.integers(name + ".from", from), w.integers(name + ".to", to),
                       w.integers(name + ".axes", axes)});
    }
    std::vector<ValueId> operands = {image, turned_filters(w, node, groups)};
    if (node.input(2) != kNoValue) operands.push_back(node.inputs[2]);
    w.add(Operator::kConv, node.name, operands,
          {{"pads", around}, {"dilations", dilations}, {"group", groups}}, 1, node.outputs.at(0));
}

}  // namespace lockstep::network::decomposing
