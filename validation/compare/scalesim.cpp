// SPDX-License-Identifier: Apache-2.0
// The array's SCALE-Sim metrics against SCALE-Sim v2's own output. Its percentages are printed with
// six digits; ours are compared after the same rounding.
#include "models/tpu/systolic/scalesim.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "sim/error/error.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"

namespace lockstep::validation {

namespace {

double six_digits(double value) {
    return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

/// `H31xW31 R5xS5 C48 F128 s1`: padded input, filter, channels, filters, stride.
tpu::ScaleSimLayer layer_of(const std::string& convolution) {
    int h = 0, w = 0, r = 0, s = 0, channels = 0, filters = 0, stride = 0;
    const int count = std::sscanf(convolution.c_str(), "H%dxW%d R%dxS%d C%d F%d s%d", &h, &w, &r,
                                  &s, &channels, &filters, &stride);
    LOCKSTEP_CHECK(count == 7, "scalesim: convolution '{}'", convolution);
    return tpu::scalesim_convolution(1, {h, r, stride}, {w, s, stride}, channels, filters);
}

std::vector<Row> rows(const Request& request) {
    if (request.machine != "systolic")
        throw InputError(
            fmt::format("suite scalesim compares the machine systolic (with the arrays of its own "
                        "table), not {}",
                        request.machine));
    const Table table = published_table("scalesim");
    std::vector<Row> list;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const auto integer = [&](std::string_view column) {
            return static_cast<std::int64_t>(table.number(i, column));
        };
        const tpu::ArrayShape array{integer("array_h"), integer("array_w"),
                                    tpu::parse_dataflow(table.text(i, "dataflow"))};
        const std::string& convolution = table.text(i, "conv_dims");
        const tpu::ScaleSimLayer layer =
            convolution.empty()
                ? tpu::ScaleSimLayer(tpu::GemmShape{integer("M"), integer("N"), integer("K")})
                : layer_of(convolution);
        const tpu::ScaleSimMetrics ours = tpu::scalesim_metrics(array, layer);
        const std::string name = fmt::format("{} {}x{} {}", table.text(i, "layer"), array.rows,
                                             array.columns, tpu::dataflow_name(array.dataflow));
        const auto add = [&](const char* column, double simulated, const char* unit) {
            list.push_back({name, column, table.number(i, column), simulated, unit,
                            "SCALE-Sim v2, " + table.text(i, "mode"), Part::kTest, convolution});
        };
        const auto count = [&](const char* column, std::int64_t simulated, const char* unit) {
            add(column, static_cast<double>(simulated), unit);
        };
        count("M", layer.gemm.m, "elements");
        count("total_cycles", ours.total_cycles, "cycles");
        add("overall_util", six_digits(ours.overall_util), "%");
        add("mapping_eff", six_digits(ours.mapping_efficiency), "%");
        add("compute_util", six_digits(ours.compute_util), "%");
        count("sram_ifmap_reads", ours.sram_ifmap_reads, "elements");
        count("sram_filter_reads", ours.sram_filter_reads, "elements");
        count("sram_ofmap_writes", ours.sram_ofmap_writes, "elements");
        if (table.text(i, "dram_ifmap_reads").empty()) continue;
        count("dram_ifmap_reads", ours.dram_ifmap_reads, "elements");
        count("dram_filter_reads", ours.dram_filter_reads, "elements");
        count("dram_ofmap_writes", ours.dram_ofmap_writes, "elements");
    }
    return list;
}

}  // namespace

Suite scalesim_suite() {
    return {.name = "scalesim",
            .summary =
                "the bare systolic array against SCALE-Sim v2's output, 30 layers x 5 "
                "arrays x 3 dataflows",
            .machine = "systolic",
            .is_exact = true,
            .rows = rows};
}

}  // namespace lockstep::validation
