// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/device/settle.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace lockstep::gpu {

namespace {

constexpr double kWarpLanes = 32;
/// Datasheets round the bandwidth.
constexpr double kRounding = 0.01;

void settle_bandwidth(config::Settings& s) {
    constexpr double kMhzBitPerGb = 8e3 / 2;  // both edges of the clock
    const double bus = s.number("dram.bus_width");
    const auto set = [&](const char* path) { return s.is_set(path); };
    if (set("dram.bandwidth") && !set("clock.memory")) {
        s.follow("clock.memory", s.number("dram.bandwidth") * kMhzBitPerGb / bus, "dram.bandwidth");
    } else if (!set("dram.bandwidth") && (set("clock.memory") || set("dram.bus_width"))) {
        s.follow("dram.bandwidth", bus * s.number("clock.memory") / kMhzBitPerGb,
                 set("clock.memory") ? "clock.memory" : "dram.bus_width");
    }
    const double given = bus * s.number("clock.memory") / kMhzBitPerGb;
    if (std::abs(s.number("dram.bandwidth") / given - 1) > kRounding)
        s.refuse(
            fmt::format("dram.bandwidth is {} GB/s, but {} bits at clock.memory {} MHz give "
                        "{:.1f}: set two of the three",
                        s.number("dram.bandwidth"), bus, s.number("clock.memory"), given));
}

void settle_lanes(config::Settings& s) {
    const double all = kWarpLanes * s.number("sm.sub_cores");
    if (s.is_set("sm.fp32_lanes") && !s.is_set("pipe.fma.interval")) {
        const double interval = all / s.number("sm.fp32_lanes");
        if (interval != std::floor(interval))
            s.refuse(fmt::format(
                "sm.fp32_lanes: {} of {} sub-cores can be {}, {}, {} and so on: {} divided by a "
                "pipe.fma.interval",
                s.number("sm.fp32_lanes"), s.number("sm.sub_cores"), all, all / 2, all / 4, all));
        s.follow("pipe.fma.interval", interval, "sm.fp32_lanes");
    } else if (!s.is_set("sm.fp32_lanes") &&
               (s.is_set("pipe.fma.interval") || s.is_set("sm.sub_cores"))) {
        s.follow("sm.fp32_lanes", std::floor(all / s.number("pipe.fma.interval")),
                 s.is_set("pipe.fma.interval") ? "pipe.fma.interval" : "sm.sub_cores");
    }
    if (std::floor(all / s.number("pipe.fma.interval")) != s.number("sm.fp32_lanes"))
        s.refuse(fmt::format(
            "sm.fp32_lanes is {}, but {} sub-cores with a pipe.fma.interval of {} "
            "have {}",
            s.number("sm.fp32_lanes"), s.number("sm.sub_cores"), s.number("pipe.fma.interval"),
            std::floor(all / s.number("pipe.fma.interval"))));
}

void settle_crossbar(config::Settings& s) {
    for (const char* way : {"crossbar.request_latency", "crossbar.reply_latency"})
        if (s.is_set(way) && !s.is_set("l2.hit_latency"))
            s.follow("l2.hit_latency",
                     s.number("l2.hit_latency") + s.number(way) - s.number_before(way), way);
}

/// What other clocks than the SMs' count is the same time at every clock of theirs.
void settle_times(config::Settings& s) {
    if (!s.is_set("clock.sm")) return;
    for (const char* path :
         {"dram.latency", "launch.begin_latency", "launch.end_latency", "launch.profiler_latency"})
        if (!s.is_set(path))
            s.follow(
                path,
                std::round(s.number(path) * s.number("clock.sm") / s.number_before("clock.sm")),
                "clock.sm");
}

/// L2 and the GPCs' ports of the crossbar have a clock of their own; parameters count SM cycles. An
/// SM's own port is on its clock.
void settle_l2_clock(config::Settings& s) {
    if (!s.is_set("clock.l2_ratio")) return;
    constexpr double kUnlimited = 65536;  // the largest crossbar.gpc_bandwidth
    const double ratio = s.number("clock.l2_ratio") / s.number_before("clock.l2_ratio");
    const auto follow = [&](const char* path, double value) {
        if (!s.is_set(path)) s.follow(path, value, "clock.l2_ratio");
    };
    for (const char* path : {"l2.slice_bandwidth", "l2.slice_write_bandwidth", "l2.link_bandwidth"})
        follow(path, s.number(path) * ratio);
    follow("crossbar.gpc_bandwidth",
           std::min(kUnlimited, s.number("crossbar.gpc_bandwidth") * ratio));
    for (const char* path : {"l2.atomic_interval", "l2.float_atomic_interval"})
        follow(path, s.number(path) / ratio);
    for (const char* path :
         {"crossbar.request_latency", "crossbar.reply_latency", "l2.hit_latency"})
        follow(path, std::max(1.0, std::round(s.number(path) / ratio)));
    follow("l2.far_latency", 2 * std::round(s.number("l2.far_latency") / ratio / 2));
}

std::vector<double> kibibytes(const std::string& list) {
    std::vector<double> sizes;
    std::istringstream text(list);
    for (std::string size; std::getline(text, size, ',');)
        if (!size.empty() && size.find_first_not_of("0123456789") == std::string::npos)
            sizes.push_back(std::stod(size));
    return sizes;
}

void settle_shared_memory(config::Settings& s) {
    constexpr double kKibi = 1024;
    if (s.is_set("shared_memory.size") && !s.is_set("shared_memory.carve_outs")) {
        const double size = s.number("shared_memory.size") / kKibi;
        if (size != std::floor(size))
            s.refuse(fmt::format("shared_memory.size: {} B is no whole number of KiB",
                                 s.number("shared_memory.size")));
        std::string list;
        for (const double carve_out : kibibytes(s.text("shared_memory.carve_outs")))
            if (carve_out < size) list += fmt::format("{},", carve_out);
        s.follow("shared_memory.carve_outs", list + fmt::format("{}", size), "shared_memory.size");
    } else if (s.is_set("shared_memory.carve_outs") && !s.is_set("shared_memory.size")) {
        const std::vector<double> sizes = kibibytes(s.text("shared_memory.carve_outs"));
        if (!sizes.empty())
            s.follow("shared_memory.size", sizes.back() * kKibi, "shared_memory.carve_outs");
    }
    if (s.is_set("shared_memory.size") && !s.is_set("shared_memory.max_per_cta")) {
        const double system =
            s.number_before("shared_memory.size") - s.number_before("shared_memory.max_per_cta");
        s.follow("shared_memory.max_per_cta",
                 std::max(0.0, s.number("shared_memory.size") - system), "shared_memory.size");
    }
}

}  // namespace

void settle(config::Settings& settings) {
    settle_bandwidth(settings);
    settle_lanes(settings);
    settle_times(settings);
    settle_l2_clock(settings);
    settle_crossbar(settings);
    settle_shared_memory(settings);
}

}  // namespace lockstep::gpu
