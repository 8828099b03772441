// SPDX-License-Identifier: Apache-2.0
// Launches as much in time as it takes to know theirs, the rest emulated.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/gpu/chip/chip_system.h"
#include "models/gpu/device/running_launch.h"
#include "models/gpu/sampling/chip_part.h"
#include "models/gpu/sampling/part_error.h"
#include "models/gpu/sampling/residency.h"
#include "models/gpu/sampling/samples.h"
#include "models/launch_ranges.h"

namespace lockstep::gpu {

class SampledLaunches {
  public:
    /// `chips`: what the launches run on, unless parts are allowed. All outlive it.
    SampledLaunches(const config::Machine& machine, const DeviceOptions& options,
                    const memory::DeviceMemory& memory, const ChipSystem& chips,
                    LaunchRunner& runner);

    /// From now on launches may run on a part of the chip.
    void use_parts() { uses_parts_ = true; }
    /// `is_one`: its CTAs run all at once. `ranges`: what it is known to use of memory.
    LaunchResult run(const LaunchRequest& request, bool is_one,
                     const std::vector<MemoryRange>& ranges);
    /// The module's kernels may be others from now on.
    void forget(ModuleHandle module);
    /// After a fault.
    void end_parts() { parts_.clear(); }

  private:
    /// A block of a grid on a part of the chip.
    struct Block {
        LaunchResult result;
        std::uint64_t ctas = 0;
        bool is_even = true;  ///< the part's channels have worked about as much
    };

    LaunchResult run_first(const LaunchRequest& request);
    LaunchResult run_on_parts(const LaunchRequest& request);
    std::optional<Block> run_block(const LaunchRequest& request, std::uint32_t part_sms,
                                   std::uint64_t number, std::vector<bool>& done);
    LaunchResult run_rest(const LaunchRequest& request, const Block& block,
                          std::vector<bool>& done);
    LaunchResult run_waves(const LaunchRequest& request, ChipPart* on,
                           const std::vector<std::uint64_t>& ctas, std::vector<bool>& done);
    LaunchResult completed(const LaunchRequest& request, const LaunchResult& result,
                           std::uint64_t ctas, const std::vector<bool>& done, double error);
    LaunchResult run_whole(const LaunchRequest& request);
    LaunchResult simulate(RunningLaunch& running);
    std::uint32_t sms() const { return static_cast<std::uint32_t>(machine_.integer("sm.count")); }
    bool can_use_parts() const;
    ChipPart& part(std::uint32_t sms);

    const config::Machine& machine_;
    const DeviceOptions& options_;
    const memory::DeviceMemory& memory_;
    const ChipSystem& chips_;
    LaunchRunner& runner_;
    Samples samples_;
    Residency residency_;
    std::set<std::pair<ModuleHandle, std::string>> launched_;  ///< kernels
    bool is_warm_ = false;  ///< whether the launch finds what earlier ones left in L2
    bool is_code_warm_ = false;
    PartError part_error_;
    bool uses_parts_ = false;
    std::map<std::uint32_t, std::unique_ptr<ChipPart>> parts_;  ///< by their SMs
};

}  // namespace lockstep::gpu
