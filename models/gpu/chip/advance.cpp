// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/chip/advance.h"

#include <algorithm>

#include "models/gpu/chip/stuck_report.h"

namespace lockstep::gpu {

using engine::Time;

namespace {

/// Windows between two looks at what runs.
constexpr Time kReportWindows = 256;

engine::StopReason simulate(std::span<Chip* const> chips, Time limit) {
    // Who has CTAs is to blame.
    const auto report = [&](const std::string& what) {
        for (const Chip* const chip : chips)
            if (chip->grids() != 0) report_deadlock(chip->used_sms(), what);
        report_deadlock(chips.front()->used_sms(), what);
    };
    try {
        return chips.front()->simulation().run(limit);
    } catch (const engine::Deadlock& deadlock) {
        report(deadlock.what());
    } catch (const engine::Livelock& livelock) {
        report(livelock.what());
    }
    return engine::StopReason::kFinished;
}

/// A kernel that had its chip for itself leaves it when everything has come to rest; where other
/// chips are busy and use its memory, that may never be, and some windows have to do.
void come_to_rest(std::span<Chip* const> chips, Time steps) {
    engine::Simulation& simulation = chips.front()->simulation();
    const auto is_empty = [](const Chip* chip) { return chip->grids() == 0; };
    if (std::all_of(chips.begin(), chips.end(), is_empty)) {
        while (simulate(chips, simulation.now() + steps) == engine::StopReason::kTimeLimit) {
        }
        return;
    }
    const auto leaves = [](const Chip* chip) {
        return chip->grids() == 0 && chip->has_finished() && !chip->is_at_rest();
    };
    for (Time i = 0; i < kReportWindows && std::any_of(chips.begin(), chips.end(), leaves); ++i)
        simulate(chips, simulation.now() + simulation.window());
}

}  // namespace

Time advance(std::span<Chip* const> chips, Time limit) {
    engine::Simulation& simulation = chips.front()->simulation();
    const Time steps = kReportWindows * std::max<Time>(simulation.window(), 1'000);
    Time reached = simulation.now();
    for (Chip* const chip : chips) {
        if (chip->grids() != 0) chip->prepare_to_advance();
        reached = std::max(reached, chip->reached());
    }
    // Where all units sleep beyond the target, time stands still: the next target lies further on.
    const Time target = std::min(limit, reached + steps);
    simulate(chips, target);
    bool has_finished = false;
    for (Chip* const chip : chips) {
        if (chip->grids() != 0) chip->look_for_spins(steps);
        has_finished |= chip->has_finished();
    }
    reached = has_finished ? simulation.now() : std::max(simulation.now(), target);
    for (Chip* const chip : chips) chip->set_reached(reached);
    if (has_finished) come_to_rest(chips, steps);
    return reached;
}

}  // namespace lockstep::gpu
