// SPDX-License-Identifier: Apache-2.0
// The six applications of the TPU paper, rebuilt from its Table 1, against its Table 3. Its rows
// are percentages of cycles, compared by difference. Cycles a batch are not in the paper; they
// follow from Table 1's multiplications a batch and Table 3's row 2 (useful multiplications,
// percent of the array's 65,536 a cycle; row 2 counts weights, so that 16-bit activations, at half
// speed, fill two cycles each; CNN1's operations are halved, see the table). Row 9 was measured on
// production code at another time: "not perfectly consistent". Rows 7 and 8 are counters beside the
// others: what waits may be hidden behind weights.
#include "validation/compare/suites.h"
#include "validation/published/published.h"
#include "workloads/run/tpu/network.h"

namespace lockstep::validation {

namespace {

constexpr double kArray = 256 * 256;
constexpr double kPeakTops = 92;
constexpr const char* kCycles = "cycles a batch";

struct Column {
    const char* name;      ///< of the table
    const char* quantity;  ///< of the row
    double simulated;      ///< percent
};

void add_rows(std::vector<Row>& list, const Table& table, std::size_t i, const Request& request) {
    const std::string& workload = table.text(i, "workload");
    const tpu::StepResult total =
        run::time_tpu_network({.what = workload, .machine = request.machine}).total();
    const double cycles = static_cast<double>(total.cycles);
    const double speed = 100 * static_cast<double>(total.useful_macs) / (cycles * kArray);
    const double slowdown = table.number(i, "slowdown");
    const auto part_of = [&](const char* column) {
        return table.text(i, "chosen").find(column) == std::string::npos ? Part::kTest
                                                                         : Part::kTrain;
    };
    const auto part = [&](std::uint64_t count) {
        return 100 * static_cast<double>(count) / cycles;
    };
    for (const Column& column : {
             Column{"active", "array active", part(total.active)},
             Column{"useful", "useful MACs", speed * slowdown},
             Column{"weight_stall", "weight stall", part(total.weight_stall)},
             Column{"weight_shift", "weight shift", part(total.weight_shift)},
             Column{"non_matrix", "non-matrix", part(total.non_matrix)},
             Column{"raw_stall", "RAW stalls", part(total.raw_stall)},
             Column{"input_stall", "input stalls", part(total.input_stall)},
             Column{"tops", "TOPS of 92", speed},
         }) {
        const bool tops = column.name == std::string("tops");
        const double published = table.number(i, column.name);
        list.push_back({.name = workload,
                        .quantity = column.quantity,
                        .reference = tops ? 100 * published / kPeakTops : published,
                        .simulated = column.simulated,
                        .unit = "%",
                        .source = "Jouppi et al., ISCA 2017, Table 3",
                        .part = part_of(column.name),
                        .note = tops ? table.text(i, "tops") + " TOPS" : "",
                        .is_percentage = true});
    }
    const double macs = table.number(i, "weights") * 1e6 * table.number(i, "intensity") /
                        table.number(i, "per_multiplication");
    list.push_back({.name = workload,
                    .quantity = kCycles,
                    .reference = macs * slowdown / (kArray * table.number(i, "useful") / 100),
                    .simulated = cycles,
                    .unit = "cycles",
                    .source = "Jouppi et al., ISCA 2017, Table 1 and row 2 of Table 3",
                    .part = part_of("cycles"),
                    .note = "reference formed: weights x operations a byte / row 2",
                    .group = "network"});
}

std::vector<Row> rows(const Request& request) {
    const Table table = published_table("tpu_paper");
    std::vector<Row> list;
    for (std::size_t i = 0; i < table.rows(); ++i) add_rows(list, table, i, request);
    return list;
}

}  // namespace

Suite tpu_paper_suite() {
    return {
        .name = "tpu_paper",
        .summary = "the six applications of the TPU paper: cycle breakdown and speed (its Table 3)",
        .machine = "tpu_v1",
        .error = Error::kRelative,
        .bar = 8,
        .bar_source = "the paper's own performance model, 8% of the cycles on average (Table 7)",
        .bar_quantity = kCycles,
        .rows = rows};
}

}  // namespace lockstep::validation
