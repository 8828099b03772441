// SPDX-License-Identifier: Apache-2.0
// Parts of a run's page, each HTML; empty where the run has nothing for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/machine.h"
#include "workloads/report/run_file.h"

namespace lockstep::report {

/// The style that the pictures of all pages need.
std::string_view page_style();

/// A bar of parts that add up, with a legend. Values in any unit.
struct Part {
    std::string name;
    double value = 0;
};
std::string stacked_bar(const std::vector<Part>& parts, const std::string& title);

/// A line a name, with a bar of 0 to 100 %.
std::string share_bars(const std::vector<Part>& shares, const std::string& title);

// Of one launch on a GPU.
std::string speed_of_light_section(const Step& step);
std::string advice_section(const Step& step, const config::Machine& machine);
std::string roofline_section(const Step& step, const config::Machine& machine);
std::string stall_section(const Step& step);
std::string memory_section(const Step& step);
std::string occupancy_section(const Step& step, const config::Machine& machine);
std::string source_section(const Step& step);

// Of all steps.
std::string timeline_section(const RunFile& run);
std::string losses_section(const RunFile& run);

}  // namespace lockstep::report
