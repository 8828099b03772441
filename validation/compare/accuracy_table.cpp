// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/accuracy_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "validation/accuracy/accuracy.h"
#include "validation/compare/silicon.h"
#include "validation/compare/statistics.h"
#include "validation/compare/suites.h"

namespace lockstep::validation {

namespace {

/// What a run can be told apart by (validation/accuracy); a suite's groups may be finer.
std::string class_of(const std::string& group) {
    const bool is_vector = group == "rows" || group == "stream" || group == "elements";
    // A fused kernel is one step with products.
    return is_vector ? "vector" : group == "attention" ? "product" : group;
}

}  // namespace

std::string make_accuracy_table() {
    std::string text =
        "# Errors of simulated time by machine and class of work, in percent of what was measured: "
        "mean and worst of the absolute errors.\n"
        "# rows: measured ones like it; held: of them, those that were not looked at when the "
        "model was made. Made from the suites; do not edit:\n"
        "# LOCKSTEP_WRITE_PAGES=1 build/tests/validation/compare/test_validation_compare "
        "--gtest_filter='Accuracy.*'\n"
        "machine,class,rows,held,mean,worst,suite\n";
    const auto add = [&](std::string_view machine, std::string_view name,
                         const std::vector<Row>& members, Error error, std::string_view suite) {
        const ErrorStatistics all = statistics_of(members, error);
        text += fmt::format("{},{},{},{},{:.1f},{:.1f},{}\n", machine, name, all.rows,
                            select(members, "", Part::kTest).size(), all.mean_absolute,
                            all.maximum_absolute, suite);
    };
    for (const Suite& suite : {tpu_measured_suite(), tpu_paper_suite(), tpu_v6e_suite()}) {
        std::map<std::string, std::vector<Row>> classes;
        const std::vector<Row> rows = suite.rows({.machine = std::string(suite.machine)});
        for (const Row& row : select(rows, "", std::nullopt))
            if (!row.group.empty()) classes[class_of(row.group)].push_back(row);
        for (const auto& [name, members] : classes) {
            add(suite.machine, name, members, suite.error, suite.name);
        }
    }
    std::map<std::pair<std::string, std::string>, std::vector<Row>> kernels;
    for (const SiliconRow& row : silicon_rows({.machine = "all"}))
        kernels[{row.machine, row.work_class}].push_back(row.row);
    std::map<std::string, std::vector<Row>> of_all;
    for (const auto& [key, members] : kernels) {
        add(key.first, key.second, members, Error::kRelative, "silicon");
        std::ranges::copy(members, std::back_inserter(of_all[key.second]));
    }
    for (const auto& [name, members] : of_all)
        add(kAnyGpu, name, members, Error::kRelative, "silicon");
    return text;
}

}  // namespace lockstep::validation
