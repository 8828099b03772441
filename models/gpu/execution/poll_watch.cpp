// SPDX-License-Identifier: Apache-2.0
// States are compared at jumps back, by Brent's way to find a cycle: with one reference, which is
// taken anew after twice as many jumps each time.
#include "models/gpu/execution/poll_watch.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "isa/sass/convergence.h"
#include "isa/sass/effects.h"
#include "isa/sass/program.h"
#include "isa/sass/table/op.h"
#include "models/gpu/execution/byte_probe.h"
#include "models/gpu/execution/mbarrier_watch.h"
#include "models/gpu/execution/warp_state.h"

namespace lockstep::gpu {

namespace {

/// Instructions and jumps back of a path in one trial: a loop that sleeps for longer and longer
/// comes to its longest sleep well before.
constexpr unsigned kSteps = 1 << 13, kJumps = 256;
constexpr std::size_t kAddresses = 64;  ///< that a report looks at

/// Notices that a clock is read, whose loops may come to an end.
class ClockWatch final : public sass::Environment {
  public:
    explicit ClockWatch(sass::Environment& environment) : environment_(environment) {}
    void system_call(unsigned, sass::Warp&) override {}
    std::uint64_t clock(const sass::Warp&) override { return ++reads_; }
    std::uint64_t global_timer(const sass::Warp&) override { return ++reads_; }
    std::uint32_t sm_id(const sass::Warp& warp) override { return environment_.sm_id(warp); }
    std::uint32_t sm_count() override { return environment_.sm_count(); }
    bool was_read() const { return reads_ != 0; }

  private:
    sass::Environment& environment_;
    std::uint64_t reads_ = 0;
};

/// A warp that is put back as it was.
class Trial {
  public:
    explicit Trial(sass::Warp& warp)
        : warp_(warp),
          before_(warp),
          rows_(reinterpret_cast<sass::Row*>(warp.bases[0]), warp.cta->launch->rows),
          contents_(rows_.begin(), rows_.end()),
          watch_(*warp.cta->launch->environment),
          environment_(std::exchange(warp.cta->launch->environment, &watch_)) {}
    ~Trial() {
        warp_.cta->launch->environment = environment_;
        std::copy(contents_.begin(), contents_.end(), rows_.begin());
        warp_ = before_;
    }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    /// The running path goes round in circles.
    bool circles(Poll& poll);

  private:
    /// Executes the next instruction; false where it may have an effect.
    bool step(Poll& poll);

    sass::Warp& warp_;
    const sass::Warp before_;
    const std::span<sass::Row> rows_;
    const std::vector<sass::Row> contents_;
    ClockWatch watch_;
    sass::Environment* const environment_;
    ByteProbe probe_;
};

void add(Poll& poll, std::uint64_t address) {
    std::vector<std::uint64_t>& all = poll.addresses;
    if (all.size() < kAddresses && std::find(all.begin(), all.end(), address) == all.end())
        all.push_back(address);
}

void note(Poll& poll, const sass::Warp& warp, std::uint32_t pc) {
    if (warp.access.space != sass::Space::kGlobal) return;
    poll.pc = pc;
    poll.lane = static_cast<unsigned>(std::countr_zero(warp.mask));
    for (std::uint32_t lanes = warp.mask; lanes != 0; lanes &= lanes - 1) {
        add(poll, warp.access.address[std::countr_zero(lanes)]);
    }
}

bool Trial::step(Poll& poll) {
    const sass::Program& program = *warp_.cta->launch->program;
    const std::uint32_t pc = warp_.pc;
    const sass::Instruction& in = program.code()[pc];
    const sass::Word& word = program.words()[pc];
    warp_.mask = warp_.active & (warp_.predicate[in.guard] ^ in.guard_invert);
    if (warp_.mask == 0) {
        ++warp_.pc;
        return true;
    }
    const bool writes = writes_memory(in, word);
    const bool reads = (in.effects & (sass::kReadsMemory | sass::kLocalMemory)) != 0;
    // Questions to mbarriers, which may complete copies, and waits for products are watched by
    // others.
    if ((in.effects & sass::kMbarrier) != 0 || sass::op_of(word) == sass::Op::kWarpgroup)
        return false;
    if (writes ? !probe_.begin(in, word, warp_) : !reads && !is_private(in, word, program.arch()))
        return false;
    ++warp_.pc;
    bool has_effect = false;
    try {
        in.execute(in, warp_);
    } catch (const sass::Fault&) {
        has_effect = true;  // it is reported where it really happens
    }
    if (writes && probe_.has_changed()) {
        probe_.undo();
        has_effect = true;
    }
    if (writes || reads) note(poll, warp_, pc);
    return !has_effect && !watch_.was_read();
}

/// Yields in vain let threads go on that wait at a convergence barrier (sass::yield): circles end
/// there as often as any wait. It is brought about at once.
bool Trial::circles(Poll& poll) {
    const auto waits = [](const sass::Path& path) {
        return path.status == sass::PathStatus::kConvergence;
    };
    constexpr std::uint32_t kVeryPatient = 1u << 30;
    std::ptrdiff_t forced = 0;
    std::uint64_t reference = 0;
    unsigned jumps = 0, next_reference = 1;
    for (unsigned i = 0; i < kSteps; ++i) {
        const std::uint32_t pc = warp_.pc;
        if (!step(poll)) return false;
        if (warp_.active == 0 && !sass::resume(warp_)) return false;
        if (warp_.pc > pc) continue;
        const std::uint64_t state = state_of(warp_);
        if (state == reference) {
            if (forced++ >= std::count_if(warp_.parked.begin(), warp_.parked.end(), waits))
                return true;
            warp_.yields = kVeryPatient;
            reference = 0;
            jumps = 0;
            next_reference = 1;
            continue;
        }
        if (++jumps != next_reference) continue;
        if (jumps >= kJumps) return false;
        next_reference *= 2;
        reference = state;
        poll.addresses.clear();
    }
    return false;
}

/// Whatever path runs.
bool polls(sass::Warp& warp, Poll& poll) {
    const auto is_ready = [](const sass::Path& path) {
        return path.status == sass::PathStatus::kReady;
    };
    const auto others = std::count_if(warp.parked.begin(), warp.parked.end(), is_ready);
    for (std::ptrdiff_t path = 0; path <= others; ++path) {
        Trial trial(warp);
        if (warp.active == 0 && !sass::resume(warp)) return path != 0;
        for (std::ptrdiff_t i = 0; i < path; ++i) sass::rotate(warp);
        if (!trial.circles(poll)) return false;
    }
    return true;
}

}  // namespace

bool all_poll(std::span<sass::Cta* const> ctas, Poll& poll) {
    bool found = false;
    for (sass::Cta* const cta : ctas) {
        for (sass::Warp* const warp : cta->warps) {
            if (warp->live == 0) continue;
            const bool runs =
                warp->active != 0 ||
                std::any_of(warp->parked.begin(), warp->parked.end(), [](const sass::Path& path) {
                    return path.status == sass::PathStatus::kReady;
                });
            if (!runs) continue;
            Poll here{.cta = cta, .warp = warp->index, .pc = warp->pc, .addresses = {}};
            if (!polls(*warp, here)) return false;
            if (!std::exchange(found, true)) {
                poll = std::move(here);
                continue;
            }
            for (const std::uint64_t address : here.addresses) add(poll, address);
        }
    }
    return found;
}

}  // namespace lockstep::gpu
