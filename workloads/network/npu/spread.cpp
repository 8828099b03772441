// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/spread.h"

#include <algorithm>

#include "workloads/network/graph/tensor.h"

namespace lockstep::network {

namespace {

const Node* maker_of(const Graph& graph, ValueId id, Operator op) {
    const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) {
        return !n.outputs.empty() && n.outputs[0] == id;
    });
    return node != graph.nodes.end() && node->op == op ? &*node : nullptr;
}

struct Spread {
    ValueId image;
    std::vector<std::int64_t> strides, behind;  ///< zeros after the last row and column
};

/// The image that rows and columns are cut off from at the end, as decompose/ does.
ValueId uncut(const Graph& graph, ValueId id) {
    const Node* slice = maker_of(graph, id, Operator::kSlice);
    if (slice == nullptr || slice->inputs.size() != 4) return id;
    for (const std::size_t i : {1, 3})
        if (!graph.value(slice->inputs[i]).is_known()) return id;
    const bool ends =
        to_integers(*graph.value(slice->inputs[1]).data) == std::vector<std::int64_t>{0, 0} &&
        to_integers(*graph.value(slice->inputs[3]).data) == std::vector<std::int64_t>{2, 3};
    return ends ? slice->inputs[0] : id;
}

/// [n, c, h, w] as [n, c, h, 1, w, 1], padded behind h and w to their strides, and together again.
std::optional<Spread> spread_of(const Graph& graph, ValueId read) {
    const ValueId id = uncut(graph, read);
    const Node* together = maker_of(graph, id, Operator::kReshape);
    if (together == nullptr) return std::nullopt;
    const Node* pad = maker_of(graph, together->inputs[0], Operator::kPad);
    if (pad == nullptr || pad->text("mode", "constant") != "constant") return std::nullopt;
    const Node* apart = maker_of(graph, pad->inputs[0], Operator::kReshape);
    if (apart == nullptr) return std::nullopt;
    const Shape &image = graph.shape(apart->inputs[0]), &wide = graph.shape(id),
                &parts = graph.shape(pad->inputs[0]);
    if (image.size() != 4 || wide.size() != 4 ||
        parts != Shape{image[0], image[1], image[2], 1, image[3], 1})
        return std::nullopt;
    const auto known = [&](std::size_t i) -> const Tensor* {
        const ValueId input = pad->input(i);
        return input != kNoValue && graph.value(input).is_known() ? &*graph.value(input).data
                                                                  : nullptr;
    };
    if (pad->input(2) != kNoValue &&
        (known(2) == nullptr || to_doubles(*known(2)) != std::vector<double>{0}))
        return std::nullopt;
    if (known(1) == nullptr) return std::nullopt;
    const std::vector<std::int64_t> pads = to_integers(*known(1));
    const std::vector<std::int64_t> strides = {pads.at(9) + 1, pads.at(11) + 1};
    std::vector<std::int64_t> wanted(12, 0);
    wanted[9] = strides[0] - 1;
    wanted[11] = strides[1] - 1;
    if (pads != wanted ||
        wide != Shape{image[0], image[1], image[2] * strides[0], image[3] * strides[1]})
        return std::nullopt;
    std::vector<std::int64_t> behind;
    for (std::size_t d = 0; d < 2; ++d) {
        behind.push_back(strides[d] - 1 - (wide[d + 2] - graph.shape(read)[d + 2]));
        if (behind.back() < 0) return std::nullopt;  // more than zeros is cut off
    }
    return Spread{apart->inputs[0], strides, behind};
}

}  // namespace

int join_spread_convolutions(Graph& graph) {
    int count = 0;
    for (Node& node : graph.nodes) {
        if (node.op != Operator::kConv || node.has("upsample") ||
            node.text("auto_pad", "NOTSET") != "NOTSET")
            continue;
        const std::optional<Spread> spread = spread_of(graph, node.inputs.at(0));
        if (!spread) continue;
        // The zeros behind the last row and column become padding.
        std::vector<std::int64_t> pads = node.integers("pads", {0, 0, 0, 0});
        pads[2] += spread->behind[0];
        pads[3] += spread->behind[1];
        node.inputs[0] = spread->image;
        node.attributes["pads"] = pads;
        node.attributes["upsample"] = spread->strides;
        ++count;
    }
    return count;
}

}  // namespace lockstep::network
