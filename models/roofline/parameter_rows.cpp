// SPDX-License-Identifier: Apache-2.0
#include "models/roofline/parameter_rows.h"

#include <algorithm>

namespace lockstep::roofline {

namespace {

using config::Row;
using config::Type;

Row<Parameters> peak_row(std::size_t at, std::string_view path, std::string_view meaning) {
    return {path,
            Type::kNumber,
            "TFLOP/s",
            0,
            1e6,
            meaning,
            [at, path](const config::Machine& machine, Parameters& into) {
                into.peak[at] = machine.number(path);
            }};
}

std::span<const Row<Parameters>> rows() {
    static const std::vector<Row<Parameters>> kRows{
        Row<Parameters>{"product", &Parameters::product, "the name on the box"}.reporting_only(),
        Row<Parameters>{"units", &Parameters::units, "1", 1, 1e6, "multiprocessors or cores"}
            .reporting_only(),
        Row<Parameters>{"lanes", &Parameters::lanes, "1", 1, 1e6, "fp32 lanes of a unit"}
            .reporting_only(),
        {"clock", &Parameters::clock_mhz, "MHz", 1, 1e5,
         "clock in which cycles are told; the peaks are at it"},
        peak_row(0, "peak.fp64", "fp64"),
        peak_row(1, "peak.fp32", "fp32"),
        peak_row(2, "peak.tf32", "tf32, where there are units for it"),
        peak_row(3, "peak.bf16", "bf16, dense"),
        peak_row(4, "peak.fp16", "fp16, dense"),
        peak_row(5, "peak.fp8", "fp8, dense"),
        peak_row(6, "peak.int8", "int8, dense; TOP/s"),
        peak_row(7, "peak.int4", "int4, dense; TOP/s"),
        Row<Parameters>{"memory.size", &Parameters::memory_bytes, "B", 1, 1e15, "its own memory"}
            .reporting_only(),
        {"memory.bandwidth", &Parameters::memory_bandwidth, "GB/s", 0.001, 1e6,
         "of its own memory, at most"},
        Row<Parameters>{"power_limit", &Parameters::power_limit, "W", 0, 1e5,
                        "what it may draw for long: its thermal design power"}
            .reporting_only(),
    };
    return kRows;
}

}  // namespace

Parameters::Parameters(const config::Machine& machine) {
    read_rows(machine, rows(), *this);
}

double Parameters::operations_per_second(std::string_view precision) const {
    const auto found = std::ranges::find(kPrecisions, precision);
    return found == kPrecisions.end()
               ? 0
               : 1e12 * peak[static_cast<std::size_t>(found - kPrecisions.begin())];
}

std::vector<config::Entry> parameter_entries() {
    std::vector<config::Entry> entries;
    append_entries(entries, rows());
    return entries;
}

}  // namespace lockstep::roofline
