// SPDX-License-Identifier: Apache-2.0
// Conservative parallel simulation with exact lookahead (Chandy and Misra; synchronous windows as
// in Nicol's bounded-lag protocols): windows lie on a fixed grid whose pitch is the smallest
// latency of any Channel, so a message sent in one is never readable in it, and a Tile may run
// through all its cycles of a window at once. Everything that Tiles see of each other changes
// between windows, on one thread, in the order in which the Tiles were made; but messages and
// credits, which are of no use in the window that they come from, as soon as all run on one thread.
#include "sim/engine/simulation.h"

#include <algorithm>

#include "sim/engine/systemc_shell.h"

namespace lockstep::engine {
namespace {

constexpr Cycle kWindowWithoutChannels = 1024;  // only how often hooks run depends on it
constexpr std::size_t kLinesInReport = 64;

}  // namespace

Tile::Tile(Simulation& simulation, std::string name, ClockDomain clock)
    : simulation_(simulation), name_(std::move(name)), clock_(clock) {
    simulation.add_tile(*this);
}

void Tile::wake(Cycle cycle) {
    if (!simulation_.prepared_) return;  // the first run gives every Tile work
    const Time now = simulation_.now();
    simulation_.schedule(*this, std::max(cycle, clock_.first_cycle_from(now)), "wake");
    simulation_.note_finished(*this);
}

Simulation::Simulation(SimulationOptions options)
    : options_(std::move(options)), shuffle_(options_.shuffle.value_or(0)) {
    LOCKSTEP_CHECK(options_.threads == 1 || options_.activation == Activation::kDriver,
                   "processes of tiles run on one thread");
    shell_ = std::make_unique<SystemcShell>(*this);
    pool_ = std::make_unique<WorkerPool>(options_.threads);
}

Simulation::~Simulation() = default;

void Simulation::add_tile(Tile& tile) {
    tile.index_ = static_cast<std::uint32_t>(tiles_.size());
    const auto found = std::find_if(domains_.begin(), domains_.end(), [&](const Domain& domain) {
        return domain.clock == tile.clock();
    });
    tile.domain_ = static_cast<std::uint32_t>(found - domains_.begin());
    if (found == domains_.end()) domains_.push_back({tile.clock()});
    shell_->add_tile(tile);
    tiles_.push_back(&tile);
}

void Simulation::add_channel(std::unique_ptr<ChannelBase> channel, const std::string& sender_role,
                             const std::string& receiver_role) {
    LOCKSTEP_CHECK(!prepared_, "{}: connected after the first run", channel->name());
    if (options_.names_channels)
        shell_->add_channel(*channel, {channel->sender_, sender_role},
                            {channel->receiver_, receiver_role});
    channels_.push_back(std::move(channel));
}

SignalId Simulation::add_signal(const std::string& path) {
    return shell_->add_signal(path);
}

void Simulation::set_signal(SignalId signal, Time at, std::uint64_t value) {
    shell_->set_signal(signal, at, value);
}

void Simulation::build_inside(const Tile& tile, const std::function<void()>& build) {
    shell_->build_inside(tile, build);
}

void Simulation::prepare() {
    LOCKSTEP_CHECK(!tiles_.empty(), "a simulation without tiles");
    window_ = kNever;
    for (const auto& channel : channels_) window_ = std::min(window_, channel->lookahead());
    if (channels_.empty())
        for (const Domain& domain : domains_)
            window_ = std::min(window_, domain.clock.start_of(kWindowWithoutChannels));
    window_ = std::min(window_, options_.max_window);
    LOCKSTEP_CHECK(window_ > 0, "windows of no length");
    const auto tiles = static_cast<std::uint32_t>(tiles_.size());
    wheel_.reset(tiles);
    for (std::uint32_t i = 0; i < tiles; ++i) wheel_.add(i, 0);
    prepared_ = true;
}

StopReason Simulation::run(Time limit) {
    LOCKSTEP_CHECK(!failed_, "a simulation that failed cannot go on");
    if (!prepared_) prepare();
    unfinished_ = 0;
    for (Tile* tile : tiles_) unfinished_ += !(tile->finished_ = tile->finished());
    limit_ = limit;
    if (all_finished()) return StopReason::kFinished;
    failed_ = true;  // unless we come back
    const std::uint64_t next = wheel_.next();
    if (next == kNever) throw Deadlock("deadlock: no unit has work\n" + waiting());
    if (next * window_ < limit) shell_->run(next * window_);
    failed_ = false;
    return all_finished() ? StopReason::kFinished : StopReason::kTimeLimit;
}

std::span<const std::uint32_t> Simulation::begin_window() {
    wheel_.take(active_);
    const Time end = now();
    for (Domain& domain : domains_) {
        domain.from = domain.clock.first_cycle_from(end - window_);
        domain.until = domain.clock.first_cycle_from(end);
    }
    if (!options_.shuffle) return active_;
    order_ = active_;
    std::shuffle(order_.begin(), order_.end(), shuffle_);
    return order_;
}

void Simulation::activate(std::uint32_t index) {
    Tile& tile = *tiles_[index];
    const Domain& domain = domains_[tile.domain_];
    try {
        tile.next_ = tile.advance(domain.from, domain.until);
    } catch (...) {
        tile.failure_ = std::current_exception();
    }
}

void Simulation::run_tiles() {
    std::vector<std::uint32_t>& order = options_.shuffle ? order_ : active_;
    if (options_.threads == 1) {
        // No message or credit of a window is of use in it: they may as well become visible at
        // once, while they are in the host's cache.
        for (const std::uint32_t index : order) {
            activate(index);
            commit_touched(*tiles_[index]);
        }
        return;
    }
    order_ = order;
    const auto middle = std::stable_partition(
        order_.begin(), order_.end(),
        [&](std::uint32_t index) { return !tiles_[index]->runs_on_kernel_thread(); });
    pool_->run(
        static_cast<std::uint32_t>(middle - order_.begin()),
        [&](std::uint32_t i) { activate(order_[i]); },
        [&] { std::for_each(middle, order_.end(), [&](std::uint32_t i) { activate(i); }); });
}

void Simulation::schedule(Tile& tile, Cycle cycle, const char* cause) {
    // Nearly always the next window: no division then.
    const Time time = tile.clock().start_of(cycle);
    const Time now = wheel_.current() * window_;
    LOCKSTEP_CHECK(time >= now, "{} for {} at cycle {}, in a window that is past", cause,
                   tile.name(), cycle);
    wheel_.add(tile.index_, time - now < window_ ? wheel_.current() : time / window_);
}

void Simulation::commit(ChannelBase& channel) {
    if (channel.has_spilled_) [[unlikely]]
        channel.take_spilled();
    if (channel.sent_ != channel.visible_sent_) {
        const std::uint32_t count = channel.sent_ - channel.visible_sent_;
        statistics_.messages += count;
        in_flight_ += count;
        // Of the messages that are readable in one window, the first wakes the receiver.
        Time scheduled_until = 0;
        while (channel.visible_sent_ != channel.sent_) {
            const Cycle ready = channel.stamp(channel.visible_sent_++).ready;
            const Time time = channel.receiver_.clock().start_of(ready);
            if (time < scheduled_until) continue;
            schedule(channel.receiver_, ready, "message");
            if (channel.visible_sent_ != channel.sent_)
                scheduled_until = time - time % window_ + window_;
        }
        *channel.next_ready_ = channel.head_ready();
    }
    in_flight_ -= channel.received_ - channel.visible_received_;
    channel.visible_received_ = channel.received_;
    if (channel.starved_ && channel.credited_ != channel.visible_received_) {
        // The sender saw the credits that come back within its window; these come later.
        const Cycle back = channel.stamp(channel.credited_).credit;
        const Time now = wheel_.current() * window_;
        schedule(channel.sender_, std::max(back, channel.sender_.clock().first_cycle_from(now)),
                 "credit");
        channel.starved_ = false;
    }
    channel.sender_touched_ = channel.receiver_touched_ = false;
}

void Simulation::commit_touched(Tile& tile) {
    for (ChannelBase* channel : tile.touched_) commit(*channel);
    tile.touched_.clear();
}

void Simulation::note_finished(Tile& tile) {
    const bool before = std::exchange(tile.finished_, tile.finished());
    unfinished_ += before;
    unfinished_ -= tile.finished_;
}

Time Simulation::end_window() {
    const Time end = now();
    for (const std::uint32_t index : active_)
        if (tiles_[index]->failure_) std::rethrow_exception(tiles_[index]->failure_);
    for (const std::uint32_t index : active_) tiles_[index]->at_window_end();
    bool progressed = false;
    for (const std::uint32_t index : active_) {
        Tile& tile = *tiles_[index];
        if (tile.next_ != kNever) schedule(tile, tile.next_, "own work");
        progressed |= std::exchange(tile.progressed_, false);
        note_finished(tile);
        commit_touched(tile);
    }
    for (const auto& hook : hooks_) hook(end);
    ++statistics_.windows;
    statistics_.activations += active_.size();

    if (all_finished()) {
        windows_without_progress_ = 0;
        return kNever;
    }
    const std::uint64_t next = wheel_.next();
    if (next == kNever)
        throw Deadlock(fmt::format("deadlock at {} ps: no unit has work\n{}", end, waiting()));
    windows_without_progress_ = progressed ? 0 : windows_without_progress_ + 1;
    if (windows_without_progress_ > options_.livelock_after / window_)
        throw Livelock(fmt::format("livelock at {} ps: {} ps of work without progress\n{}", end,
                                   windows_without_progress_ * window_, waiting()));
    const Time start = next * window_;
    return start < limit_ ? start : kNever;
}

std::string Simulation::waiting() const {
    std::string report;
    std::size_t lines = 0;
    const auto add = [&](const std::string& line) {
        if (lines++ < kLinesInReport) report += "  " + line + "\n";
    };
    for (const Tile* tile : tiles_)
        if (!tile->finished()) add(tile->name() + ": " + tile->explain_wait());
    for (const auto& channel : channels_)
        if (channel->in_flight() != 0)
            add(fmt::format("{}: {} messages not taken", channel->name(), channel->in_flight()));
    if (lines > kLinesInReport) report += fmt::format("  and {} more\n", lines - kLinesInReport);
    return report;
}

}  // namespace lockstep::engine
