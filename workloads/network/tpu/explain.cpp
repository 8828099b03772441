// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/explain.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::network {

namespace {

/// What is held, and what passes while it is exchanged, by dataflow.
constexpr const char* kHeld[] = {"weights", "sums", "inputs"};
constexpr const char* kShifts[] = {"weight shifts", "sums that leave the array", "input shifts"};

/// Of the array that the passes use, rows and columns.
double fill(double use, const TpuLayer& layer) {
    return layer.weight_tiles == 0 ? 0 : use / static_cast<double>(layer.weight_tiles);
}

}  // namespace

std::string schedule_text(const TpuCompiled& compiled) {
    std::string text;
    for (const TpuLayer& layer : compiled.layers) {
        text += fmt::format("; {}: ", layer.name);
        if (!layer.note.empty())
            text += layer.note + "\n";
        else if (layer.weight_tiles == 0)
            text += "vector unit and transfers\n";
        else
            text += fmt::format(
                "{}m={} n={} k={}, {} blocks of rows, {} weight tiles, the array holds {}, {:.0f}% "
                "of its rows and {:.0f}% of its columns filled\n",
                layer.products > 1 ? fmt::format("{} x ", layer.products) : "", layer.m, layer.n,
                layer.k, layer.row_blocks, layer.weight_tiles,
                kHeld[static_cast<std::size_t>(compiled.dataflow)],
                100 * fill(layer.lane_use, layer), 100 * fill(layer.column_use, layer));
    }
    if (compiled.resident_bytes != 0)
        text += fmt::format("; values fill at most {} KiB of the unified buffer\n",
                            compiled.resident_bytes / 1024);
    return text + tpu::listing(compiled.program, false);
}

std::string explain_layer(const TpuLayer& layer, const LayerTime& time,
                          const tpu::CoreLimits& limits) {
    const double cycles = static_cast<double>(time.cycles) * limits.matrix_units;
    // Its streams, and those of them that fell into the time of other steps.
    const std::uint64_t within = time.active - time.active_others;
    const double streams = static_cast<double>(within + time.active_elsewhere);
    if (cycles == 0) return "no time of its own: hidden behind the step before";
    const auto part = [&](std::uint64_t count) {
        return 100 * static_cast<double>(count) / cycles;
    };
    if (time.host_busy != 0)
        return fmt::format(
            "{}; {:.1f}% of the time it works, the rest are transfers", layer.note,
            100 * static_cast<double>(time.host_busy) / static_cast<double>(time.cycles));
    if (layer.weight_tiles == 0) {
        if (time.vector_busy * 2 >= time.cycles) return "no matrix product: vector unit";
        return time.host_bytes != 0 ? "no matrix product: host transfer"
                                    : "no matrix product: memory transfers";
    }
    const double peak = cycles * limits.array_rows * limits.array_columns;
    const double all_used = 100 * static_cast<double>(time.macs) / peak;
    const double used = streams == 0 ? all_used : all_used * static_cast<double>(within) / streams;
    const std::uint64_t idle = time.active + time.weight_stall + time.weight_shift;
    const double other = part(
        static_cast<std::uint64_t>(cycles) > idle ? static_cast<std::uint64_t>(cycles) - idle : 0);
    std::vector<std::pair<double, std::string>> losses = {
        {part(within) / static_cast<double>(layer.row_cycles) - used,
         fmt::format("fold edges ({:.0f}% of rows, {:.0f}% of columns filled)",
                     100 * fill(layer.lane_use, layer), 100 * fill(layer.column_use, layer))},
        {part(within) * (1 - 1 / static_cast<double>(layer.row_cycles)), "16-bit operands"},
        {part(time.active_others), "products of other steps"},
        {part(time.weight_stall), "weight stalls"},
        {part(time.weight_shift), kShifts[static_cast<std::size_t>(limits.dataflow)]},
    };
    // What is counted beside each other can overlap: no more than there is.
    double rest = other;
    const auto lose = [&](std::uint64_t count, const char* reason) {
        const double share = std::min(rest, part(count));
        losses.emplace_back(share, reason);
        rest -= share;
    };
    lose(time.input_stall,
         time.host_bytes != 0 ? "host and memory transfers" : "waiting for operands from memory");
    lose(time.raw_stall, "waiting for the vector unit");
    lose(time.bank_stall, "bank conflicts of the unified buffer");
    lose(time.window_stall, "windows whose rows were still to be made");
    lose(time.issue_stall, "instructions that were still to come");
    lose(time.idle_units, "matrix units with less to do than others");
    // Of what is left, the vector unit worked at least while nothing else was to be seen.
    const std::uint64_t elsewhere = static_cast<std::uint64_t>(cycles * (1 - rest / 100));
    const std::uint64_t vector = time.vector_busy * limits.matrix_units;
    lose(vector > elsewhere ? vector - elsewhere : 0, "the vector unit at work");
    losses.emplace_back(rest, "fill, drain and transfers around it");
    std::sort(losses.begin(), losses.end(),
              [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text = fmt::format("{:.1f}% used", used);
    if (all_used - used >= 0.05)
        text += fmt::format(" (and {:.1f}% in the time of other steps)", all_used - used);
    for (const auto& [percent, reason] : losses)
        if (percent >= 1) text += fmt::format("; {:.1f}% {}", percent, reason);
    return text;
}

std::string explain_utilisation(const TpuCompiled& compiled, const std::vector<LayerTime>& times,
                                const tpu::CoreLimits& limits, const std::vector<bool>& shown) {
    std::string text = "why the array is not fully used:\n";
    for (const TpuLayer& layer : compiled.layers) {
        if (!shown.empty() && !shown.at(layer.step)) continue;
        if (layer.weight_tiles == 0 && times.at(layer.step).host_busy == 0) continue;
        text += fmt::format("  {}: {}\n", layer.name,
                            explain_layer(layer, times.at(layer.step), limits));
    }
    return text;
}

}  // namespace lockstep::network
