// SPDX-License-Identifier: Apache-2.0
// The six applications of the TPU paper, rebuilt from its Table 1, against its Table 3. All values
// are percentages and compared by difference; the speed is in percent of the peak of 92 TOPS. Table
// 3's useful multiplications and its speed come from different runs ("not perfectly consistent");
// for the LSTMs they differ by two.
#include "validation/compare/suites.h"
#include "validation/compare/tpu_workload.h"
#include "validation/published/published.h"

namespace lockstep::validation {

namespace {

std::vector<Row> rows(const Request& request) {
    const Table table = published_table("tpu_paper");
    std::vector<Row> list;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const std::string& name = table.text(i, "application");
        const tpu::StepResult total = run_tpu_workload(name, request.machine).total();
        const double cycles = static_cast<double>(total.cycles);
        constexpr double kPeak = 256 * 256;
        const double useful = 100 * static_cast<double>(total.useful_macs) / (cycles * kPeak);
        const auto add = [&](const char* column, const char* quantity, double simulated) {
            list.push_back({name, quantity, table.number(i, column), simulated, "%",
                            "Jouppi et al., ISCA 2017, Table 3", Part::kTest,
                            std::string(column) == "tops_pct" ? table.text(i, "note") : ""});
        };
        const auto part = [&](std::uint64_t count) {
            return 100 * static_cast<double>(count) / cycles;
        };
        add("active", "array active", part(total.active));
        add("useful", "useful MACs", useful);
        add("weight_stall", "weight stall", part(total.weight_stall));
        add("weight_shift", "weight shift", part(total.weight_shift));
        add("non_matrix", "non-matrix", part(total.non_matrix));
        add("tops_pct", "TOPS of 92", useful);
    }
    return list;
}

}  // namespace

Suite tpu_paper_suite() {
    return {
        .name = "tpu_paper",
        .summary = "the six applications of the TPU paper: cycle breakdown and speed (its Table 3)",
        .machine = "tpu_v1",
        .error = Error::kDifference,
        .bar = 8,
        .bar_source = "the paper's own performance model, 8% of the cycles on average (Table 7)",
        .rows = rows};
}

}  // namespace lockstep::validation
