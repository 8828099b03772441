// SPDX-License-Identifier: Apache-2.0
// Attention as one kernel, the scores of which never leave the chip: blocks of queries meet blocks
// of keys and values one after the other, and what was summed up so far is scaled anew wherever a
// block raises a row's maximum (Dao et al., FlashAttention, NeurIPS 2022; Pallas's flash_attention
// for TPUs). Where a softmax says `block`; others become kernels through memory (softmax.h).
#pragma once

#include "workloads/network/tpu/compilation.h"

namespace lockstep::network::lowering {

/// Lowers softmax(q k' * factor + mask) v, of which `scores` is the first product, and notes the
/// other nodes as fused. Blocks that a constant mask takes away are not computed. False where the
/// nodes are not that, or their softmax does not ask for blocks.
bool lower_attention_in_blocks(Compilation& c, const Node& scores);

}  // namespace lockstep::network::lowering
