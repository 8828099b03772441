// SPDX-License-Identifier: Apache-2.0
// Brent's way to find a cycle: states are compared with one reference, which is taken anew after
// twice as many looks each time.
#include "models/gpu/chip/spin_watch.h"

#include <algorithm>
#include <utility>

namespace lockstep::gpu {

namespace {

/// Simulated picoseconds without any effect before states are looked at, and without a warp that
/// comes or goes before writes are; then after twice as long each time.
constexpr engine::Time kQuiet = 200'000'000;
constexpr unsigned kFirstLooks = 16;
/// ... and before warps are tried that ask mbarriers; then after twice as long each time.
constexpr engine::Time kTrial = 2'000'000'000;

bool has_come_back_to(const WarpSample& then, const WarpSample& now) {
    return now.state == then.state && now.path_turns - then.path_turns >= now.paths;
}

}  // namespace

void SpinWatch::sample(const Sms& sms) {
    samples_.clear();
    for (const std::unique_ptr<Sm>& sm : sms) append_warp_samples(sm->warps(), samples_);
}

void SpinWatch::observe(const Sms& sms, bool observes) {
    observes_ = observes;
    for (const std::unique_ptr<Sm>& sm : sms) sm->watch().observe_changes(observes);
}

bool SpinWatch::has_effects(const Sms& sms, engine::Time now) {
    std::uint64_t arrivals = 0, writes = 0, changes = 0;
    for (const std::unique_ptr<Sm>& sm : sms) {
        arrivals += sm->ctas().arrivals();
        writes += sm->writes();
        changes += sm->watch().changes();
    }
    const bool has_written = std::exchange(writes_, writes) != writes;
    const bool has_changed = std::exchange(changes_, changes) != changes;
    if (std::exchange(arrivals_, arrivals) != arrivals) {
        if (observes_) observe(sms, false);
        observe_pause_ = kQuiet;
        observe_at_ = now + observe_pause_;
        return true;
    }
    if (!observes_) {
        if (has_written && now >= observe_at_) observe(sms, true);
        return has_written;
    }
    if (has_changed) {
        observe(sms, false);
        observe_pause_ *= 2;
        observe_at_ = now + observe_pause_;
    }
    return has_changed;
}

void SpinWatch::look(const std::vector<std::unique_ptr<Sm>>& sms, engine::Time now,
                     engine::Time interval) {
    if (now < next_) return;
    next_ = now + interval;
    if (has_effects(sms, now)) {
        quiet_since_ = now;
        reference_.clear();
        spins_ = false;
        pause_ = kTrial;
        next_trial_ = now + pause_;
        return;
    }
    if (now - quiet_since_ < kQuiet) return;
    if (now >= next_trial_) {
        pause_ *= 2;
        next_trial_ = now + pause_;
        const auto is_busy = [](const auto& sm) { return sm->ctas().resident_cta() != nullptr; };
        const auto is_stuck = [](const auto& sm) { return never_goes_on(sm->warps()); };
        spins_ = std::any_of(sms.begin(), sms.end(), is_busy) &&
                 std::all_of(sms.begin(), sms.end(), is_stuck);
    }
    if (spins_) return;
    sample(sms);
    if (reference_.size() != samples_.size() || looks_ == most_looks_) {
        most_looks_ = reference_.empty() ? kFirstLooks : 2 * most_looks_;
        looks_ = 0;
        reference_ = samples_;
        has_come_back_.assign(samples_.size(), false);
        return;
    }
    ++looks_;
    for (std::size_t i = 0; i < samples_.size(); ++i)
        if (has_come_back_to(reference_[i], samples_[i])) has_come_back_[i] = true;
    if (std::all_of(samples_.begin(), samples_.end(),
                    [](const auto& sample) { return sample.state == 0; }) ||
        std::find(has_come_back_.begin(), has_come_back_.end(), false) != has_come_back_.end())
        return;
    spins_ = std::all_of(sms.begin(), sms.end(),
                         [](const auto& sm) { return waits_in_vain(sm->warps()); });
    if (!spins_) looks_ = most_looks_;  // what follows such a wait may be something else
}

}  // namespace lockstep::gpu
