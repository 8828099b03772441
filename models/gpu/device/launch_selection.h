// SPDX-License-Identifier: Apache-2.0
// Which launches of a program are simulated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/device.h"

namespace lockstep::gpu {

/// Counts launches as they come: of those whose kernel's name has a match, the first `skip` pass by
/// and the next `count` are taken (Nsight Compute: --kernel-name, --launch-skip, --launch-count).
class LaunchSelection {
  public:
    /// Throws InputError where the regular expression is malformed.
    explicit LaunchSelection(const LaunchFilter& filter);
    ~LaunchSelection();

    /// Whether the launch that comes now is simulated; to be asked once a launch. `kernel` is the
    /// symbol's name.
    bool takes(const std::string& kernel);

  private:
    struct Pattern;
    bool matches(const std::string& kernel) const;

    const LaunchFilter filter_;
    std::unique_ptr<Pattern> pattern_;  ///< null: any name
    std::uint64_t matched_ = 0;
};

}  // namespace lockstep::gpu
