// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators that move elements, and of reductions, after the ONNX operator reference.
#include <algorithm>
#include <set>

#include "workloads/network/shapes/rule.h"

namespace lockstep::network::shapes {

void infer_concat(const Rule& r) {
    Shape out = r.in(0);
    if (!r.node.has("axis")) fail(r.node, "axis is missing");
    const std::size_t axis = axis_of(r.node, r.node.integer("axis", 0), out.size());
    for (std::size_t i = 1; i < r.node.inputs.size(); ++i) {
        r.require_type(i, 0);
        Shape other = r.in(i);
        r.require(other.size() == out.size(), "inputs of different ranks");
        const std::int64_t extent = other[axis];
        other[axis] = out[axis];
        r.require(other == out, fmt::format("input {} is {}", i, to_string(r.in(i))));
        out[axis] += extent;
        element_count(out);
    }
    r.set(0, r.type(0), out);
}

void infer_reshape(const Rule& r) {
    const Shape& in = r.in(0);
    Shape out = known_integers(r.graph, r.node, 1);
    std::int64_t rest = -1;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i] == 0 && r.node.integer("allowzero", 0) == 0) {
            r.require(i < in.size(), "a 0 beyond the input's rank");
            out[i] = in[i];
        } else if (out[i] == -1) {
            r.require(rest < 0, "two -1");
            rest = static_cast<std::int64_t>(i);
        }
    }
    if (rest >= 0) {
        std::int64_t& extent = out[static_cast<std::size_t>(rest)];
        extent = 1;
        const std::int64_t known = element_count(out);
        r.require(known > 0, "a -1 beside an empty dimension");
        extent = element_count(in) / known;
    }
    r.require(element_count(out) == element_count(in),
              fmt::format("{} as {}", to_string(in), to_string(out)));
    r.set(0, r.type(0), out);
}

void infer_flatten(const Rule& r) {
    const Shape& in = r.in(0);
    const auto rank = static_cast<std::int64_t>(in.size());
    std::int64_t axis = r.node.integer("axis", 1);
    if (axis < 0) axis += rank;
    r.require(axis >= 0 && axis <= rank, fmt::format("axis {} of {}", axis, to_string(in)));
    r.set(0, r.type(0),
          {element_count(Shape(in.begin(), in.begin() + axis)),
           element_count(Shape(in.begin() + axis, in.end()))});
}

void infer_transpose(const Rule& r) {
    const Shape& in = r.in(0);
    std::vector<std::int64_t> perm = r.node.integers("perm");
    if (!r.node.has("perm"))
        for (std::size_t i = in.size(); i > 0; --i)
            perm.push_back(static_cast<std::int64_t>(i - 1));
    r.require(perm.size() == in.size() &&
                  std::set<std::int64_t>(perm.begin(), perm.end()).size() == perm.size(),
              fmt::format("perm {} of {}", to_string(perm), to_string(in)));
    Shape out;
    for (const std::int64_t p : perm) {
        r.require(p >= 0 && p < static_cast<std::int64_t>(in.size()), "perm " + to_string(perm));
        out.push_back(in[static_cast<std::size_t>(p)]);
    }
    r.set(0, r.type(0), out);
}

void infer_reduction(const Rule& r) {
    bool given = false;
    Shape in = r.in(0), out;
    const std::vector<std::size_t> axes = axes_of(r.graph, r.node, in.size(), given);
    const bool all = axes.empty() && r.node.integer("noop_with_empty_axes", 0) == 0;
    const bool keep = r.node.integer("keepdims", 1) != 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!all && std::find(axes.begin(), axes.end(), i) == axes.end())
            out.push_back(in[i]);
        else if (keep)
            out.push_back(1);
    }
    r.set(0, r.type(0), out);
}

void infer_squeeze(const Rule& r) {
    bool given = false;
    const Shape& in = r.in(0);
    const std::vector<std::size_t> axes = axes_of(r.graph, r.node, in.size(), given);
    Shape out;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const bool listed = std::find(axes.begin(), axes.end(), i) != axes.end();
        if (listed) r.require(in[i] == 1, fmt::format("axis {} of {}", i, to_string(in)));
        if (listed || (!given && in[i] == 1)) continue;
        out.push_back(in[i]);
    }
    r.set(0, r.type(0), out);
}

void infer_unsqueeze(const Rule& r) {
    bool given = false;
    const std::size_t more = r.node.has("axes") ? r.node.integers("axes").size()
                                                : known_integers(r.graph, r.node, 1).size();
    Shape out = r.in(0);
    for (const std::size_t axis : axes_of(r.graph, r.node, out.size() + more, given)) {
        r.require(axis <= out.size(), "an axis twice");
        out.insert(out.begin() + static_cast<std::int64_t>(axis), 1);
    }
    r.set(0, r.type(0), out);
}

void infer_split(const Rule& r) {
    const Shape& in = r.in(0);
    const std::size_t axis = axis_of(r.node, r.node.integer("axis", 0), in.size());
    std::vector<std::int64_t> parts = r.node.integers("split");
    const auto count = static_cast<std::int64_t>(r.node.outputs.size());
    if (r.has(1)) parts = known_integers(r.graph, r.node, 1);
    if (parts.empty()) {
        r.require(in[axis] % count == 0, fmt::format("{} in {} parts", to_string(in), count));
        parts.assign(r.node.outputs.size(), in[axis] / count);
    }
    r.require(parts.size() == r.node.outputs.size(), "as many parts as outputs are needed");
    std::int64_t rest = in[axis];
    for (std::size_t i = 0; i < parts.size(); ++i) {
        r.require(r.node.outputs[i] != kNoValue, "an output is left out");
        r.require(parts[i] >= 0 && parts[i] <= rest, "parts " + to_string(parts));
        rest -= parts[i];
        Shape out = in;
        out[axis] = parts[i];
        r.set(i, r.type(0), out);
    }
    r.require(rest == 0, "the parts do not add up to the whole");
}

void infer_gather(const Rule& r) {
    const Shape &in = r.in(0), &index = r.in(1);
    const std::size_t axis = axis_of(r.node, r.node.integer("axis", 0), in.size());
    r.require(!is_floating(r.type(1)), "floating indices");
    Shape out = in;
    out.erase(out.begin() + static_cast<std::int64_t>(axis));
    out.insert(out.begin() + static_cast<std::int64_t>(axis), index.begin(), index.end());
    r.set(0, r.type(0), out);
}

void infer_pad(const Rule& r) {
    const std::vector<std::int64_t> pads = known_integers(r.graph, r.node, 1);
    Shape out = r.in(0);
    if (r.has(2)) r.require_type(2, 0);
    const std::string mode = r.node.text("mode", "constant");
    r.require(mode == "constant", "mode " + mode + " is not supported");
    r.require(pads.size() == 2 * out.size(), fmt::format("{} pads", pads.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
        for (const std::int64_t pad : {pads[i], pads[i + out.size()]})
            r.require(pad >= 0 && pad < (std::int64_t{1} << 40), fmt::format("pad {}", pad));
        out[i] += pads[i] + pads[i + out.size()];
    }
    r.set(0, r.type(0), out);
}

void infer_slice(const Rule& r) {
    Shape out;
    for (const SliceRange& range : slice_ranges(r.graph, r.node)) out.push_back(range.count);
    r.set(0, r.type(0), out);
}

void infer_argument(const Rule& r) {
    Shape out = r.in(0);
    const std::size_t axis = axis_of(r.node, r.node.integer("axis", 0), out.size());
    r.require(out[axis] > 0, "an empty axis");
    if (r.node.integer("keepdims", 1) != 0)
        out[axis] = 1;
    else
        out.erase(out.begin() + static_cast<std::int64_t>(axis));
    r.set(0, ElementType::kInt64, out);
}

void infer_tile(const Rule& r) {
    Shape out = r.in(0);
    const std::vector<std::int64_t> repeats = known_integers(r.graph, r.node, 1);
    r.require(repeats.size() == out.size(), fmt::format("{} repeats", repeats.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
        // The whole extent has a bound, so that no product overflows.
        r.require(repeats[i] >= 0 &&
                      repeats[i] <= (std::int64_t{1} << 40) / std::max<std::int64_t>(1, out[i]),
                  "repeats " + to_string(repeats));
        out[i] *= repeats[i];
    }
    r.set(0, r.type(0), out);
}

void infer_triangle(const Rule& r) {
    r.require(r.in(0).size() >= 2, "input " + to_string(r.in(0)));
    if (r.has(1)) r.require(known_integers(r.graph, r.node, 1).size() == 1, "k is no scalar");
    r.set(0, r.type(0), r.in(0));
}

void infer_expand(const Rule& r) {
    r.set(0, r.type(0), broadcast(r.in(0), known_integers(r.graph, r.node, 1), r.node));
}

}  // namespace lockstep::network::shapes
