// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/explain.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::network {

namespace {

std::string cut_text(const NpuLayer& layer) {
    std::string text;
    if (layer.stripes > 1) text += fmt::format(", {} stripes of rows", layer.stripes);
    if (layer.pieces > 1)
        text += fmt::format(", weights in {} pieces{}", layer.pieces,
                            layer.weights_outer ? " that each pass over all stripes" : "");
    if (layer.slices > 1)
        text += fmt::format(", input channels in {} parts whose sums the cores keep", layer.slices);
    return text.empty() ? ", whole" : text;
}

std::string kept_text(const std::string& kept) {
    if (kept.empty()) return ", nothing stays in the SRAM";
    std::string text;
    const auto add = [&](char letter, const char* what) {
        if (kept.find(letter) == std::string::npos) return;
        text += fmt::format("{}{}", text.empty() ? "" : " and ", what);
    };
    add('i', "input");
    add('+', "second operand");
    add('o', "result");
    return fmt::format(", {} in the SRAM", text);
}

std::string weights_text(const NpuLayer& layer) {
    if (layer.weight_bytes == 0) return "";
    return fmt::format("; weights of {} bits, {} bytes as {}", layer.weight_bits,
                       layer.weight_bytes, layer.stream_bytes);
}

std::string explain_layer(const NpuLayer& layer, const NpuLayerTime& time, const NpuTarget& target,
                          std::uint64_t multipliers) {
    if (time.cycles == 0) return "no time of its own: hidden behind the step before";
    const double all = static_cast<double>(time.cycles) * target.cores;
    const auto part = [&](std::uint64_t cycles) { return 100 * static_cast<double>(cycles) / all; };
    if (time.host_busy != 0)
        return fmt::format(
            "{}; {:.1f}% of the time it works, the rest are transfers", layer.note,
            100 * static_cast<double>(time.host_busy) / static_cast<double>(time.cycles));
    if (layer.macs == 0)
        return fmt::format("no product; the output pipeline works {:.1f}% of the time",
                           part(time.output_busy));
    struct Cause {
        double share;
        std::string text;
    };
    const double used = 100 * static_cast<double>(time.useful_macs) /
                        (static_cast<double>(time.cycles) * static_cast<double>(multipliers));
    std::vector<Cause> causes = {{part(time.dma_stall), "waits for transfers"},
                                 {part(time.decode_stall), "weight decoder"},
                                 {part(time.output_stall), "output pipeline"},
                                 {part(time.bank_stall), "bank conflicts"},
                                 {part(time.core_stall), "waits for other commands"},
                                 {part(time.issue_stall), "waits for the sequencer"}};
    const double active = part(time.array_active);
    std::string text =
        fmt::format("{:.1f}% used; the array works {:.1f}% of the time", used, active);
    if (active > used * 1.02) {
        text += fmt::format(", {:.0f}% of it on values", active == 0 ? 0 : 100 * used / active);
        if (layer.lane_use < 0.995)
            text += fmt::format(" ({:.0f}% of its inputs have one)", 100 * layer.lane_use);
        if (layer.output_use < 0.995)
            text += fmt::format(" ({:.0f}% of its outputs do)", 100 * layer.output_use);
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [](const Cause& a, const Cause& b) { return a.share > b.share; });
    for (const Cause& cause : causes)
        if (cause.share >= 1) text += fmt::format("; {:.1f}% {}", cause.share, cause.text);
    return text;
}

}  // namespace

std::string npu_schedule_text(const NpuCompiled& compiled) {
    std::string text;
    for (const NpuLayer& layer : compiled.layers) {
        text += fmt::format("; {}: ", layer.name);
        if (!layer.note.empty())
            text += layer.note;
        else
            text += layer.shape + cut_text(layer) + kept_text(layer.kept) + weights_text(layer) +
                    fmt::format("; about {:.0f} cycles", layer.estimate);
        text += "\n";
    }
    text += fmt::format("; weights and parameters: {} bytes\n", compiled.weight_bytes);
    return text + lockstep::npu::listing(compiled.program, false);
}

std::string explain_npu(const NpuCompiled& compiled, const std::vector<NpuLayerTime>& times,
                        const NpuTarget& target, std::uint64_t multipliers,
                        const std::vector<bool>& shown) {
    std::string text = "why the array is not fully used:\n";
    for (const NpuLayer& layer : compiled.layers)
        if (layer.step < times.size() && shown[layer.step])
            text += fmt::format("  {}: {}\n", layer.name,
                                explain_layer(layer, times[layer.step], target, multipliers));
    return text;
}

}  // namespace lockstep::network
