// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/mixed.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/network/graph/given.h"

namespace lockstep::network {

namespace {

struct Candidate {
    std::string layer;
    LayerBits bits;
    double loss = 0, saved = 0;  ///< of quality; bits of storage
};

std::optional<int> bits_named(std::string_view text) {
    for (const int bits : {8, 4, 2})
        if (text == fmt::format("{}", bits)) return bits;
    return std::nullopt;
}

}  // namespace

std::optional<LayerBits> parse_precision(std::string_view text, bool narrow_activations) {
    const std::size_t a = text.find('a');
    const std::optional<int> weights = bits_named(text.substr(0, a));
    if (!weights) return std::nullopt;
    if (a == std::string_view::npos) return LayerBits{*weights, narrow_activations ? *weights : 8};
    const std::optional<int> activations = bits_named(text.substr(a + 1));
    if (!activations) return std::nullopt;
    return LayerBits{*weights, *activations};
}

std::string name_of(const LayerBits& bits) {
    return fmt::format("w{}a{}", bits.weights, bits.activations);
}

MixedPrecision choose_mixed(const Graph& legal, bool narrow_activations, double budget,
                            const std::function<double(const NpuPrecision&)>& quality) {
    MixedPrecision chosen;
    const auto judge = [&](const NpuPrecision& precision) {
        ++chosen.evaluations;
        return quality(precision);
    };
    chosen.quality = chosen.quality_of_8 = judge(chosen.precision);
    std::vector<Candidate> candidates;
    for (const Node& node : legal.nodes) {
        if (info_of(node.op).role != LayerRole::kProduct) continue;
        const Value& weight = legal.value(node.inputs.at(1));
        if (!is_given(weight)) continue;
        for (const int bits : {4, 2}) {
            Candidate c{node.name, {bits, narrow_activations ? bits : 8}};
            NpuPrecision alone;
            alone.bits_of_layer[node.name] = c.bits;
            c.loss = chosen.quality_of_8 - judge(alone);
            c.saved = static_cast<double>(element_count(*weight.shape)) * (8 - bits);
            candidates.push_back(std::move(c));
        }
    }
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const Candidate& a, const Candidate& b) { return a.loss / a.saved < b.loss / b.saved; });
    for (const Candidate& c : candidates) {
        NpuPrecision next = chosen.precision;
        LayerBits& bits = next.bits_of_layer.try_emplace(c.layer).first->second;
        if (bits.weights <= c.bits.weights) continue;
        bits = c.bits;
        const double now = judge(next);
        if (now < chosen.quality_of_8 - budget) continue;
        chosen.precision = std::move(next);
        chosen.quality = now;
    }
    return chosen;
}

}  // namespace lockstep::network
