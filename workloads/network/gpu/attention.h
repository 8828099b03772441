// SPDX-License-Identifier: Apache-2.0
// Attention as one kernel: softmax(scale q k' + mask) v, whose scores never go to memory. It is
// found in the graph by its form (two MatMuls with a Softmax between, and a scale and a mask before
// that), whoever wrote it, and computed so where the model says that this is faster than the two
// products and what is between.
#pragma once

#include <string>
#include <vector>

#include "workloads/network/gpu/lowering.h"

namespace lockstep::network::gpu {

/// Nodes that are attention. Nobody else reads what is between them.
struct AttentionNodes {
    std::vector<std::size_t> nodes;  ///< in the graph's order; the last one makes the result
    std::size_t scores = 0, softmax = 0, context = 0;
    ValueId mask = kNoValue;
    kernels::AttentionMask masked = kernels::AttentionMask::kNone;
    bool hides = false;  ///< the mask's value where a score is replaced by `hidden`
    float hidden = 0, scale = 1;
    bool causal = false;  ///< what the mask says is that queries see no later keys
};

/// All that a kernel exists for.
std::vector<AttentionNodes> find_attention(const Graph& graph);

struct AttentionShape {
    std::int64_t batches = 1, queries = 1, keys = 1, depth = 1, columns = 1;
    bool causal = false, has_mask = false;
    ElementType type = ElementType::kFp32;
};
AttentionShape shape_of(const Graph& graph, const AttentionNodes& attention);

struct AttentionChoice {
    bool is_fused = false;
    cuda::KernelName kernel;
    int warps = 1;
    std::uint32_t shared_bytes = 0;
    double cycles = 0;   ///< of the one kernel, by the model
    std::string reason;  ///< for a person
};
AttentionChoice choose_attention(const Target& target, Precision precision,
                                 const AttentionShape& shape);

void lower_attention(Lowering& l, const AttentionNodes& attention, const AttentionChoice& choice);

}  // namespace lockstep::network::gpu
