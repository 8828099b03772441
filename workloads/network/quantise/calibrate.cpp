// SPDX-License-Identifier: Apache-2.0
// A range that leaves rare extremes out spends the 256 steps on the common values. Source: Wu et
// al., "Integer Quantization for Deep Learning Inference" (2020), section 3.4: max and percentile.
#include "workloads/network/quantise/calibrate.h"

#include "sim/error/error.h"
#include "workloads/network/reference/execute.h"

#include <algorithm>
#include <cmath>

namespace lockstep::network {

namespace {

Range range_of(std::vector<float> values, double coverage) {
    if (values.empty()) return {};
    const auto last = values.size() - 1;
    const auto cut = static_cast<size_t>((1 - coverage) / 2 * static_cast<double>(last));
    const auto at = [&](size_t i) {
        const auto place = values.begin() + static_cast<int64_t>(i);
        std::nth_element(values.begin(), place, values.end());
        return *place;
    };
    if (cut > 0) return {at(cut), at(last - cut)};
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {*low, *high};
}

}  // namespace

Ranges calibrate(const Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                 double coverage) {
    if (!(coverage > 0 && coverage <= 1))
        throw InputError(fmt::format("a coverage of {} is not in (0, 1]", coverage));
    std::vector<ValueId> wanted = graph.inputs;
    for (const Node& node : graph.nodes)
        for (const ValueId id : node.outputs)
            if (id != kNoValue) wanted.push_back(id);
    std::erase_if(wanted, [&](ValueId id) { return !is_floating(graph.value(id).type); });
    Ranges ranges(graph.values.size());
    std::vector<bool> seen(ranges.size(), false);
    for (const std::vector<Tensor>& sample : samples) {
        const std::vector<Tensor> values = execute(graph, sample, Precision::kFp32, wanted);
        for (size_t i = 0; i < wanted.size(); ++i) {
            const Range next = range_of(to_floats(values[i]), coverage);
            Range& range = ranges[wanted[i]];
            range.low = seen[wanted[i]] ? std::min(range.low, next.low) : next.low;
            range.high = seen[wanted[i]] ? std::max(range.high, next.high) : next.high;
            seen[wanted[i]] = true;
        }
    }
    return ranges;
}

}  // namespace lockstep::network
