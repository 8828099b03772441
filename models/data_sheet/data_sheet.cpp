// SPDX-License-Identifier: Apache-2.0
#include "models/data_sheet/data_sheet.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/host/parameter_rows.h"
#include "models/roofline/parameter_rows.h"

namespace lockstep {

namespace {

using config::Machine;

constexpr double kFused = 2, kLanes = 32;

/// All standards of memory that TPUs and NPUs have move two words a clock.
double bandwidth_of(const Machine& machine) {
    constexpr double kWordsPerClock = 2, kBits = 8;
    return static_cast<double>(machine.integer("memory.bus_width")) / kBits * kWordsPerClock *
           machine.number("memory.clock") * 1e6;
}

double optional_number(const Machine& machine, std::string_view path) {
    return machine.has(path) ? machine.number(path) : 0;
}

}  // namespace

DataSheet gpu_sheet(const Machine& machine) {
    const double sms = static_cast<double>(machine.integer("sm.count")),
                 sub_cores = static_cast<double>(machine.integer("sm.sub_cores"));
    DataSheet sheet;
    sheet.units = fmt::format("{} SMs of {} lanes", sms, machine.integer("sm.fp32_lanes"));
    sheet.clock = machine.number("clock.sm") * 1e6;
    const auto lanes = [&](const char* interval, double pipes) {
        return sms * pipes * kLanes / static_cast<double>(machine.integer(interval)) * kFused *
               sheet.clock;
    };
    // The faster of a warp's products and, where the machine has them, a warpgroup's.
    const auto tensor = [&](const std::string& type) {
        const double macs =
            std::max(optional_number(machine, "tensor_core.macs." + type),
                     optional_number(machine, "tensor_core.warpgroup.macs." + type));
        return macs * sms * sub_cores * kFused * sheet.clock;
    };
    const std::int64_t arch = machine.integer("arch");
    const double fp64 =
        lanes("pipe.fp64.interval", machine.boolean("pipe.fp64.shared") ? 1 : sub_cores);
    const double with_fp32_sums = 1 / machine.number("tensor_core.fp32_accumulate_factor");
    const double half = tensor("fp16") * with_fp32_sums;
    sheet.peaks = {{"fp64", std::max(fp64, tensor("fp64"))},
                   {"fp32", lanes("pipe.fma.interval", sub_cores)},
                   {"tf32", arch >= 80 ? tensor("tf32") : 0},
                   {"bf16", arch >= 80 ? half : 0},
                   {"fp16", half},
                   {"fp8", arch >= 89 ? tensor("int8") * with_fp32_sums : 0},
                   {"int8", arch >= 72 ? tensor("int8") : 0},
                   {"int4", arch >= 75 && arch < 90 ? tensor("int4") : 0}};
    sheet.memory = static_cast<double>(machine.integer("dram.size"));
    sheet.bandwidth = machine.number("dram.bandwidth") * 1e9;
    return sheet;
}

DataSheet tpu_sheet(const Machine& machine) {
    const std::int64_t units = machine.integer("array.units"), rows = machine.integer("array.rows"),
                       columns = machine.integer("array.columns");
    DataSheet sheet;
    sheet.units =
        fmt::format("{} {} of {}x{}", units, units == 1 ? "array" : "arrays", rows, columns);
    sheet.clock = machine.number("clock.core") * 1e6;
    const double peak = static_cast<double>(units * rows * columns) * kFused * sheet.clock;
    if (machine.integer("generation") > 1) sheet.peaks.push_back({"bf16", peak});
    sheet.peaks.push_back({"int8", peak});
    sheet.memory = static_cast<double>(machine.integer("memory.size"));
    sheet.bandwidth = bandwidth_of(machine);
    return sheet;
}

DataSheet npu_sheet(const Machine& machine) {
    const std::int64_t cores = machine.integer("cores");
    const std::int64_t macs = machine.integer("array.inputs") * machine.integer("array.outputs") *
                              machine.integer("array.pixels");
    DataSheet sheet;
    sheet.units = fmt::format("{} {} of {} MACs", cores, cores == 1 ? "core" : "cores", macs);
    sheet.clock = machine.number("clock.core") * 1e6;
    const double peak = static_cast<double>(cores * macs) * kFused * sheet.clock;
    sheet.peaks = {{"int8", peak}};
    if (machine.text("array.split") != "none") sheet.peaks.push_back({"int4", 2 * peak});
    sheet.memory = static_cast<double>(machine.integer("memory.size"));
    sheet.bandwidth = bandwidth_of(machine);
    return sheet;
}

DataSheet systolic_sheet(const Machine& machine) {
    const std::int64_t rows = machine.integer("array.rows"),
                       columns = machine.integer("array.columns");
    DataSheet sheet;
    sheet.units = fmt::format("1 array of {}x{}", rows, columns);
    sheet.clock = machine.number("clock.array") * 1e6;
    const double peak = static_cast<double>(rows * columns) * kFused * sheet.clock;
    sheet.peaks = {{"bf16", peak}, {"int8", peak}};
    return sheet;
}

DataSheet roofline_sheet(const Machine& machine) {
    const roofline::Parameters parameters(machine);
    DataSheet sheet;
    sheet.units = fmt::format("{} units of {} lanes", parameters.units, parameters.lanes);
    sheet.clock = parameters.clock_mhz * 1e6;
    for (const std::string_view precision : roofline::kPrecisions)
        sheet.peaks.push_back({precision, parameters.operations_per_second(precision)});
    sheet.memory = parameters.memory_bytes;
    sheet.bandwidth = parameters.memory_bandwidth * 1e9;
    sheet.power = parameters.power_limit;
    return sheet;
}

DataSheet host_sheet(const Machine& machine) {
    DataSheet sheet;
    sheet.units = fmt::format("{} threads", host::threads(machine));
    return sheet;
}

double DataSheet::peak(std::string_view precision) const {
    const auto found = std::ranges::find(peaks, precision, &Peak::precision);
    return found == peaks.end() ? 0 : found->operations;
}

double DataSheet::most() const {
    double most = 0;
    for (const Peak& peak : peaks) most = std::max(most, peak.operations);
    return most;
}

std::string_view DataSheet::usual_float() const {
    const double single = peak("fp32");
    for (const std::string_view narrow : {"bf16", "fp16"})
        if (peak(narrow) > single) return narrow;
    return single > 0 ? "fp32" : "";
}

}  // namespace lockstep
