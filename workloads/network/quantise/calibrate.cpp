// SPDX-License-Identifier: Apache-2.0
// A range that leaves rare extremes out spends the 256 steps on the common values. Source: Wu et
// al., "Integer Quantization for Deep Learning Inference" (2020), section 3.4: max and percentile.
#include "workloads/network/quantise/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network {

namespace {

/// Side by side in as many lanes as the host has, for the compiler.
Range extremes(std::span<const float> values) {
    constexpr std::size_t kLanes = 16;
    std::array<float, kLanes> low, high;
    low.fill(values[0]);
    high.fill(values[0]);
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const float x = values[i + lane];
            low[lane] = x < low[lane] ? x : low[lane];
            high[lane] = x > high[lane] ? x : high[lane];
        }
    for (; i < values.size(); ++i) {
        low[0] = std::min(low[0], values[i]);
        high[0] = std::max(high[0], values[i]);
    }
    return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

Range range_of(std::span<const float> all, double coverage) {
    if (all.empty()) return {};
    const auto last = all.size() - 1;
    const auto cut = static_cast<std::size_t>((1 - coverage) / 2 * static_cast<double>(last));
    if (cut == 0) return extremes(all);
    std::vector<float> values(all.begin(), all.end());
    const auto at = [&](std::size_t i) {
        const auto place = values.begin() + static_cast<std::int64_t>(i);
        std::nth_element(values.begin(), place, values.end());
        return *place;
    };
    return {at(cut), at(last - cut)};
}

}  // namespace

Ranges calibrate(const Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                 double coverage,
                 const std::function<void(ValueId, std::span<const float>)>& visit) {
    if (!(coverage > 0 && coverage <= 1))
        throw InputError(fmt::format("a coverage of {} is not in (0, 1]", coverage));
    Ranges ranges(graph.values.size());
    std::vector<bool> seen(ranges.size(), false);
    for (const std::vector<Tensor>& sample : samples)
        execute_visiting(graph, sample, [&](ValueId id, std::span<const float> values) {
            const Range next = range_of(values, coverage);
            Range& range = ranges[id];
            range.low = seen[id] ? std::min(range.low, next.low) : next.low;
            range.high = seen[id] ? std::max(range.high, next.high) : next.high;
            seen[id] = true;
            if (visit) visit(id, values);
        });
    return ranges;
}

}  // namespace lockstep::network
