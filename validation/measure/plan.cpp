// SPDX-License-Identifier: Apache-2.0
#include "validation/measure/plan.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "sim/error/error.h"
#include "validation/measure/plan_text.h"
#include "workloads/cuda/workload.h"

namespace lockstep::validation {

std::vector<PlannedPair> parse_plan(std::string_view text, std::string_view file_name) {
    std::vector<PlannedPair> plan;
    std::set<std::string> seen;
    for (int line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view row = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (row.empty() || row[0] == '#') continue;
        const auto fail = [&](const std::string& why) {
            throw InputError(fmt::format("{}:{}: {}", file_name, line, why));
        };
        const std::size_t comma = row.find(',');
        if (comma == std::string_view::npos || comma == 0) fail("expected group,workload");
        PlannedPair pair{std::string(row.substr(0, comma)), std::string(row.substr(comma + 1))};
        std::replace(pair.workload.begin(), pair.workload.end(), ' ', ',');
        const std::size_t colon = pair.workload.find(':');
        try {
            cuda::parse_parameters(cuda::find_workload(pair.workload.substr(0, colon)),
                                   colon == std::string::npos
                                       ? ""
                                       : std::string_view(pair.workload).substr(colon + 1));
        } catch (const InputError& error) {
            fail(error.what());
        }
        if (!seen.insert(pair.workload).second) fail("the pair stands twice");
        plan.push_back(std::move(pair));
    }
    return plan;
}

std::vector<PlannedPair> piece_of(const std::vector<PlannedPair>& plan, const std::string& part) {
    unsigned index = 0, count = 0;
    char rest = 0;
    if (std::sscanf(part.c_str(), "%u/%u%c", &index, &count, &rest) != 2 || index == 0 ||
        index > count)
        throw InputError(fmt::format("--part {}: expected I/N with I from 1 to N", part));
    const auto at = [&](unsigned i) {
        return plan.begin() + static_cast<std::ptrdiff_t>(plan.size() * i / count);
    };
    return {at(index - 1), at(index)};
}

const std::vector<PlannedPair>& measurement_plan() {
    static const std::vector<PlannedPair> plan = parse_plan(kPlanText, "plan.csv");
    return plan;
}

}  // namespace lockstep::validation
