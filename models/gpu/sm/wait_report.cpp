// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/wait_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "models/gpu/execution/mbarrier_report.h"
#include "models/gpu/execution/mbarrier_watch.h"
#include "models/gpu/execution/warp_state.h"

namespace lockstep::gpu {

namespace {

std::string reason(const WarpContext& context, engine::Cycle now) {
    constexpr engine::Cycle kRecently = 50'000'000;  // loops that sleep between questions included
    std::string asked;
    if (context.has_asked && context.asked_at + kRecently >= now && !context.waits_for_path)
        asked = describe_phase_check(*context.warp, context.asked_pc);
    else if (context.waits_for_counter)
        return fmt::format("dependence counters ({})",
                           fmt::join(std::span(context.counter).first(kCounters), ","));
    else if (context.waits_for_line)
        return fmt::format("line {} of its code", context.line);
    else if (context.waits_for_constant)
        return fmt::format("line {} of its constants", context.constant_line);
    else if (context.waits_for_path)
        return "threads at a barrier";
    else if (context.waits_for_grid)
        return "the end of the kernel before it (griddepcontrol.wait)";
    else if (context.waits_for_copies)
        return "asynchronous copies";
    else if (context.waits_for_products || context.waits_for_room)
        return "the products of its warpgroup";
    else if (context.waits_for_stores)
        return fmt::format("{} stores", context.stores_in_flight);
    return asked.empty() ? "an event that never comes" : asked;
}

}  // namespace

std::string explain_waits(const Warps& warps) {
    constexpr std::size_t kLongest = 1200;
    std::string text;
    for (const WarpContext& context : warps.all()) {
        if (text.size() >= kLongest) break;
        if (context.warp == nullptr || context.is_done) continue;
        text += fmt::format("{}CTA {} warp {} at {:#x} waits for {}", text.empty() ? "" : "; ",
                            context.warp->cta->linear_index, context.warp->index,
                            context.warp->pc * sass::Word::kBytes, reason(context, warps.now()));
    }
    return text.empty() ? "a CTA's memory accesses are under way" : text;
}

void append_warp_samples(const Warps& warps, std::vector<WarpSample>& samples) {
    for (const WarpContext& context : warps.all()) {
        WarpSample& sample = samples.emplace_back();
        if (context.warp == nullptr) continue;
        const auto& parked = context.warp->parked;
        const auto ready = std::count_if(parked.begin(), parked.end(), [](const sass::Path& path) {
            return path.status == sass::PathStatus::kReady;
        });
        sample = {state_of(*context.warp), context.path_turns,
                  ready == 0 ? 0 : static_cast<std::uint32_t>(ready + 1)};
    }
}

bool waits_in_vain(const Warps& warps) {
    return std::all_of(warps.all().begin(), warps.all().end(), [](const WarpContext& context) {
        return context.warp == nullptr || context.try_wait_end == 0 || never_goes_on(*context.warp);
    });
}

bool never_goes_on(const Warps& warps) {
    return std::all_of(warps.all().begin(), warps.all().end(), [](const WarpContext& context) {
        if (context.warp == nullptr || context.is_done || context.waits_for_path) return true;
        return context.has_asked && never_goes_on(*context.warp);
    });
}

}  // namespace lockstep::gpu
