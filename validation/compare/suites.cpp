// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/suites.h"

#include "sim/config/nearest.h"
#include "sim/error/error.h"

namespace lockstep::validation {

std::span<const Suite> suites() {
    static const Suite kSuites[] = {
        counters_suite(), h200_suite(),         micro_suite(),     networks_suite(),
        nvdla_suite(),    power_suite(),        sampling_suite(),  scalesim_suite(),
        silicon_suite(),  tpu_measured_suite(), tpu_paper_suite(), tpu_v6e_suite(),
    };
    return kSuites;
}

const Suite& find_suite(std::string_view name) {
    std::vector<std::string> names;
    std::string list;
    for (const Suite& suite : suites()) {
        if (suite.name == name) return suite;
        names.emplace_back(suite.name);
        list += fmt::format("\n  {:<16} {}", suite.name, suite.summary);
    }
    const std::string near = config::nearest(name, names);
    throw InputError(fmt::format("unknown suite '{}'{}; there are:{}", name,
                                 near.empty() ? "" : "; did you mean " + near + "?", list));
}

}  // namespace lockstep::validation
