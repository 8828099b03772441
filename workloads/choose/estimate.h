// SPDX-License-Identifier: Apache-2.0
// What a network asks of a machine of which only the data sheet is looked at: the least time of a
// batch, and the memory that it takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/data_sheet/data_sheet.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::choose {

enum class Phase : std::uint8_t { kInference, kTraining };
std::string_view name_of(Phase phase);

struct Estimate {
    double seconds = 0;  ///< of a batch, at the least
    double memory_share =
        0;  ///< of that time in layers whose bytes take longer than their operations

    double parameters = 0;   ///< elements
    double weights = 0;      ///< bytes
    double states = 0;       ///< bytes of gradients, the optimiser's state, a master copy
    double activations = 0;  ///< bytes of what is computed and kept at once
    double memory() const { return weights + states + activations; }
};

/// `graph`: with shapes, as it was built or read. `precision` is one that the sheet has a peak for.
///
/// Inference: batch norm is folded, layers are fused as accelerators do it; the activations are
/// those that live at the same time. Training: the backward pass does twice the forward pass's
/// operations and moves twice its bytes (a product's gradients are two products; Kaplan et al.
/// 2020), all values that are computed are kept for it, and AdamW keeps 16 bytes a parameter:
/// weight, gradient and two moments in fp32, or, in 16 bits, weight and gradient and fp32 copies of
/// weight and moments (Rajbhandari et al., ZeRO, 2020); it reads and writes them once a batch.
Estimate estimate(network::Graph graph, const DataSheet& sheet, std::string_view precision,
                  Phase phase);

/// The precision that networks are run in where none is asked for: 16 bits where those are faster
/// than fp32 (for training bf16 rather than fp16), else fp32, else int8. Empty: there is none.
std::string usual_precision(const DataSheet& sheet, Phase phase);

}  // namespace lockstep::choose
