// SPDX-License-Identifier: Apache-2.0
// The statistics of a run: what --stats writes, whatever the machine.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/stats/profile.h"
#include "sim/stats/value.h"

namespace lockstep::stats {

/// One kernel launch or network layer.
struct Step {
    std::string name;
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    Metrics metrics;
    std::string mode;  ///< how it was run, where that is not the run's mode; else empty
    std::shared_ptr<const Profile> profile = nullptr;  ///< by instruction, where asked for
};

/// What ran, beside machine, mode and workload: enough to run it again.
struct Origin {
    std::string version, commit;         ///< of Lockstep
    std::string machine_file;            ///< a path, or the name of a built-in machine
    std::string machine_sha256;          ///< of the file's text, with what it is based on
    std::vector<std::string> overrides;  ///< path=value
    std::vector<std::string> options;    ///< as "--l2 warm"; none that results do not depend on
    std::uint64_t seed = 0;
};

class Statistics {
  public:
    Statistics(std::string machine, std::string mode, std::string workload);

    void add(Step step) { steps_.push_back(std::move(step)); }
    /// Adds to the totals. `instructions` is what the simulator's speed is measured by:
    /// warp-instructions on a GPU.
    void add_time(std::uint64_t cycles, double seconds, std::uint64_t instructions);

    void set_origin(Origin origin) { origin_ = std::move(origin); }
    /// The host's run ends here, or else where the file is written.
    void stop_clock() { end_ = std::chrono::steady_clock::now(); }
    /// The time of the whole run, where it is more than that of its steps.
    void set_seconds(double seconds) { seconds_ = seconds; }

    const std::string& machine() const { return machine_; }
    const std::string& mode() const { return mode_; }
    const std::vector<Step>& steps() const { return steps_; }
    std::vector<Step>& steps() { return steps_; }
    /// What the totals hold beside cycles and seconds.
    const Metrics& totals() const { return totals_; }
    Metrics& totals() { return totals_; }
    std::string json() const;
    /// One row a step; the columns are the union of all metrics.
    std::string csv() const;

    /// Writes `path` whole or not at all, in the form its ending names. Throws InputError where the
    /// ending is neither .json nor .csv or the file cannot be written.
    void write(const std::string& path) const;
    /// Throws what write() would, before the run has cost anything.
    static void check_path(const std::string& path);

  private:
    std::string machine_, mode_, workload_;
    std::optional<Origin> origin_;
    std::vector<Step> steps_;
    Metrics totals_;
    std::uint64_t cycles_ = 0;
    double seconds_ = 0;
    std::uint64_t instructions_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<std::chrono::steady_clock::time_point> end_;
};

/// source_text() of the steps that have it, each below its name.
std::string source_text(const Statistics& statistics);

/// Writes a file whole or not at all (a device or pipe: as it takes it). Throws InputError where it
/// cannot be written.
void write_whole(const std::string& path, std::string_view contents);

/// Throws what write_whole() would where the file can be made neither now nor later.
void check_writable(const std::string& path);

}  // namespace lockstep::stats
