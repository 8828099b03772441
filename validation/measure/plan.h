// SPDX-License-Identifier: Apache-2.0
// The plan: which workloads are measured, with which parameters (plan.csv).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::validation {

struct PlannedPair {
    std::string group;
    std::string workload;  ///< as `sgemm:m=256,n=256,k=256`
    /// Workloads that time themselves run as they are, without repeats of their launches.
    bool times_itself() const { return group == "micro"; }
};

/// Reads `group,workload` lines; parameters are separated by blanks. Throws InputError with file
/// and line on a line without a comma, an unknown workload or parameter, and a repeated pair.
std::vector<PlannedPair> parse_plan(std::string_view text, std::string_view file_name);

/// `2/3`: the second of three parts. Throws InputError where the text is none of the like.
std::vector<PlannedPair> piece_of(const std::vector<PlannedPair>& plan, const std::string& part);

/// plan.csv, which is built in.
const std::vector<PlannedPair>& measurement_plan();

}  // namespace lockstep::validation
