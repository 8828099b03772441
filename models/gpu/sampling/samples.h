// SPDX-License-Identifier: Apache-2.0
// Launches whose time is known, for those that are like them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/device.h"
#include "models/memory/global_memory.h"

namespace lockstep::gpu {

/// Names of what sampling adds to a launch's metrics: CTAs that were simulated (none of a launch
/// whose time is another's), and how far the time may be off, in percent of it.
inline constexpr std::string_view kSampledCtas = "lockstep__sampled_ctas.sum";
inline constexpr std::string_view kSampleError = "lockstep__sample_error.pct";

/// The launch's kSampleError; 0: it has none.
double sample_error(const LaunchResult& result);
void set_sampled(LaunchResult& result, std::uint64_t ctas);
/// Gives the launch another time, and another number of what its metrics count.
void stretch(LaunchResult& result, double time, double work);

/// A launch of part of whose CTAs the time is known: `simulated` ran in time and gave `result`,
/// the others were emulated and gave `rest`, and take `missing` cycles more, give or take
/// `uncertainty`. Counts (names that end in .sum) are scaled, all else is what it was.
LaunchResult extrapolated(LaunchResult result, const LaunchResult& rest, std::uint64_t simulated,
                          std::uint64_t ctas, double missing, double uncertainty);

class Samples {
  public:
    /// What launches must have in common to take the same time: kernel, shape, and all parameters
    /// that are no addresses of allocations.
    static std::string key_of(const LaunchRequest& request, const memory::DeviceMemory& memory);

    /// Null: there was none like it.
    const LaunchResult* find(const std::string& key) const;
    void add(const std::string& key, const LaunchResult& result) { results_.emplace(key, result); }
    /// The module's kernels may be others from now on.
    void forget(ModuleHandle module);

    /// The time of `known` for a launch that was emulated: in proportion to its instructions. The
    /// error grows by how much those differ.
    static LaunchResult like(const LaunchResult& known, const LaunchResult& emulated);

  private:
    std::map<std::string, LaunchResult, std::less<>> results_;
};

}  // namespace lockstep::gpu
