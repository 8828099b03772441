// SPDX-License-Identifier: Apache-2.0
// Which operator is written by which family. Meanings: the ONNX operator reference (opset 17).
#include "workloads/network/decompose/decompose.h"

#include "workloads/network/decompose/parts.h"

#include <algorithm>

namespace lockstep::network {

void decomposing::fail(const Node& node, const std::string& reason) {
    throw InputError(fmt::format("node {} ({}): {}", node.name, name_of(node.op), reason));
}

namespace {

/// A Pad that only adds zeros or another value stays what it is.
bool stays(const Graph& graph, const Node& node) {
    if (node.text("mode", "constant") != "constant") return false;
    const std::vector<int64_t> pads = known_integers(graph, node, 1);
    return std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad >= 0; });
}

}  // namespace

bool is_composite(Operator op) {
    using enum Operator;
    switch (op) {
        case kCelu:
        case kConvTranspose:
        case kCumSum:
        case kDepthToSpace:
        case kEinsum:
        case kGRU:
        case kLRN:
        case kMean:
        case kOneHot:
        case kRNN:
        case kReduceL1:
        case kReduceLogSum:
        case kReduceLogSumExp:
        case kResize:
        case kSelu:
        case kShrink:
        case kSize:
        case kSpaceToDepth:
        case kThresholdedRelu:
            return true;
        default:
            return false;
    }
}

std::optional<std::vector<Node>> decompose(Graph& graph, const Node& node) {
    using enum Operator;
    NodeWriter w(graph);
    switch (node.op) {
        case kGRU:
        case kRNN:
            decomposing::write_recurrent(w, node);
            break;
        case kResize:
            decomposing::write_resize(w, graph, node);
            break;
        case kConvTranspose:
            decomposing::write_transposed_convolution(w, node);
            break;
        case kEinsum:
            decomposing::write_einsum(w, node);
            break;
        case kPad:
            if (stays(graph, node)) return std::nullopt;
            decomposing::write_pad(w, graph, node);
            break;
        case kLRN:
            decomposing::write_local_response(w, node);
            break;
        case kDepthToSpace:
        case kSpaceToDepth:
            decomposing::write_block_movement(w, node);
            break;
        case kOneHot:
            decomposing::write_one_hot(w, graph, node);
            break;
        case kCumSum:
            decomposing::write_cumulative_sum(w, graph, node);
            break;
        case kReduceL1:
        case kReduceLogSum:
        case kReduceLogSumExp:
            decomposing::write_reduction(w, graph, node);
            break;
        default:
            if (!is_composite(node.op)) return std::nullopt;
            decomposing::write_elementwise(w, node);
            break;
    }
    return w.take();
}

}  // namespace lockstep::network
