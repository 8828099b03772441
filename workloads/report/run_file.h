// SPDX-License-Identifier: Apache-2.0
// A statistics file (.json), read back.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/stats/profile.h"

namespace lockstep::report {

/// Names and values, in the file's order.
class Metrics {
  public:
    void add(std::string name, double value) { list_.emplace_back(std::move(name), value); }
    /// 0 where there is none of this name.
    double operator[](std::string_view name) const;
    bool has(std::string_view name) const;
    const std::vector<std::pair<std::string, double>>& list() const { return list_; }

  private:
    const double* find(std::string_view name) const;
    std::vector<std::pair<std::string, double>> list_;
};

struct Step {
    std::string name, mode;
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    Metrics metrics;
    stats::Profile profile;  ///< without rows: the file has none

    bool is_launch() const { return metrics.has("sm__cycles_elapsed.max"); }
    /// Of whatever machine; 0 where it was emulated.
    double cycles() const;
};

struct RunFile {
    std::string file;  ///< as it was named
    std::string machine, mode, workload, version, machine_file;
    std::vector<std::string> overrides, options;
    std::vector<Step> steps;
    Metrics totals;
};

/// Throws InputError with the file and what is wrong in it.
RunFile read_run(const std::string& file);
RunFile parse_run(const std::string& file, std::string_view json);

}  // namespace lockstep::report
