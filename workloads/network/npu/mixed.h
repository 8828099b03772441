// SPDX-License-Identifier: Apache-2.0
// Bits by layer under a budget: those layers get fewer that lose least by it, as measured.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "workloads/network/npu/prepare.h"

namespace lockstep::network {

/// "8", "4" or "2": of the weights; activations have as many where `narrow_activations`, else 8.
/// "4a8": 4-bit weights, 8-bit activations. Nothing where the text is none of these.
std::optional<LayerBits> parse_precision(std::string_view text, bool narrow_activations);
/// "w4a8"
std::string name_of(const LayerBits& bits);

struct MixedPrecision {
    NpuPrecision precision;
    double quality = 0, quality_of_8 = 0;
    int evaluations = 0;
};

/// Begins with 8 bits everywhere. Each layer is tried with 4 and with 2 bits by itself; then, from
/// the smallest loss for a byte saved on, each change is kept with which `quality` (more is better)
/// stays within `budget` of that of 8 bits. Source: greedy by sensitivity, as Wang et al., "HAQ"
/// (2019), section 4 compares with, and ZeroQ (Cai et al., 2020).
MixedPrecision choose_mixed(const Graph& legal, bool narrow_activations, double budget,
                            const std::function<double(const NpuPrecision&)>& quality);

}  // namespace lockstep::network
