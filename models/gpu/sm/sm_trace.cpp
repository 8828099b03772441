// SPDX-License-Identifier: Apache-2.0
// An instruction's stages: issue, the reading of its operands, execution for as long as it holds
// its pipe; instructions of variable latency then have a write-back, those of memory wait in a
// queue and are in the memory unit until theirs. A fixed-latency result has no write-back of its
// own: that it is there in time is the compiler's promise, kept by stall counts.
#include "models/gpu/sm/sm_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "models/gpu/sm/register_file.h"
#include "models/gpu/sm/sm_parameters.h"

namespace lockstep::gpu {

using engine::Cycle;

namespace {

constexpr const char* kPipeNames[] = {"alu", "fma",    "fma heavy", "fp16", "fp64",
                                      "xu",  "tensor", "uniform",   "lsu",  "adu",
                                      "cbu", "tma",    "dispatch"};
static_assert(std::size(kPipeNames) == kPipes);

}  // namespace

SmTrace::SmTrace(trace::Trace& trace, const TraceNames& names, const SmParameters& parameters,
                 unsigned sm, const std::string& prefix)
    : recorder_(trace.recorder()),
      names_(names),
      shows_instructions_(trace.shows_instructions()),
      parameters_(parameters),
      open_(parameters.max_warps) {
    const bool waves = trace.shows_waves();
    const std::string group = waves ? fmt::format("{}sm{}", prefix, sm) : fmt::format("SM {}", sm);
    using enum trace::TrackKind;
    ipc_ = trace.track(group, "instructions per cycle", kReal);
    resident_ = trace.track(group, "warps active", kInteger);
    l1_sectors_ = trace.track(group, "L1 sectors per cycle", kReal);
    for (unsigned i = 0; i < parameters.max_ctas; ++i)
        ctas_.push_back(trace.track(group, fmt::format("CTA slot {}", i)));
    for (unsigned s = 0; s < parameters.sub_cores; ++s) {
        const std::string inside = waves ? fmt::format("{}.sub_core{}", group, s) : group;
        if (waves) add_waves(trace, inside);
        queues_.push_back(trace.track(
            inside, waves ? "memory queue" : fmt::format("memory queue {}", s), kInteger));
        auto& pipes = pipes_.emplace_back();
        for (unsigned pipe = 0; pipe < kPipes; ++pipe)
            pipes[pipe] =
                trace.track(inside, waves ? std::string(kPipeNames[pipe])
                                          : fmt::format("sub-core {} {}", s, kPipeNames[pipe]));
    }
    if (waves) {
        l1_data_ = trace.track(group, "L1 data queue", kInteger);
        l1_misses_ = trace.track(group, "L1 misses", kInteger);
        l1_crossbar_ = trace.track(group, "L1 requests to send", kInteger);
        outstanding_ = trace.track(group, "crossbar requests unanswered", kInteger);
    }
    for (unsigned i = 0; i < parameters.max_warps; ++i)
        warps_.push_back(trace.track(group, fmt::format("warp {}", i)));
}

void SmTrace::add_waves(trace::Trace& trace, const std::string& group) {
    waves_.push_back({.issue = trace.track(group, "issue"),
                      .warp = trace.track(group, "warp", trace::TrackKind::kInteger),
                      .stall = trace.track(group, "stall")});
}

/// A sub-core stalls for what most of its warps wait for.
void SmTrace::change(std::uint32_t warp, WarpState state, Cycle since, Cycle at) {
    const WarpState before = std::exchange(open_[warp], {state, since}).state;
    if (waves_.empty() || before == state) return;
    SubCoreWaves& waves = waves_[warp % parameters_.sub_cores];
    if (before != WarpState::kCount) --waves.warps[static_cast<unsigned>(before)];
    if (state != WarpState::kCount) ++waves.warps[static_cast<unsigned>(state)];
    const auto waits = [](std::size_t s) {
        return s != static_cast<unsigned>(WarpState::kSelected) &&
               s != static_cast<unsigned>(WarpState::kNotSelected);
    };
    std::size_t most = kWarpStates;
    for (std::size_t s = 0; s < kWarpStates; ++s)
        if (waits(s) && waves.warps[s] > (most == kWarpStates ? 0 : waves.warps[most])) most = s;
    recorder_.value(waves.stall, {most == kWarpStates ? names_.none : names_.state[most]}, at);
}

void SmTrace::close(std::uint32_t warp, Cycle at) {
    const Open& open = open_[warp];
    if (open.state != WarpState::kCount)
        recorder_.slice(warps_[warp], {names_.state[static_cast<unsigned>(open.state)]}, open.since,
                        at);
}

void SmTrace::state(std::uint32_t warp, WarpState state, Cycle at) {
    if (open_[warp].state == state) return;
    close(warp, at);
    change(warp, state, at, at);
}

void SmTrace::warp_ends(std::uint32_t warp, Cycle at) {
    close(warp, at);
    change(warp, WarpState::kCount, 0, at);
}

trace::InstructionId SmTrace::issued(std::uint32_t warp, trace::NameId name,
                                     const StaticInstruction& in, std::uint32_t lanes, Cycle now) {
    if (!shows_instructions_) {
        close(warp, now);
        recorder_.slice(warps_[warp], {name}, now, now + 1);
        change(warp, WarpState::kCount, now + 1, now);
        if (!waves_.empty()) {
            const SubCoreWaves& waves = waves_[warp % parameters_.sub_cores];
            recorder_.slice(waves.issue, {name}, now, now + 1);
            recorder_.counter(waves.warp, warp, now);
            recorder_.counter(waves.warp, std::numeric_limits<double>::quiet_NaN(), now + 1);
        }
        recorder_.slice(pipes_[warp % parameters_.sub_cores][static_cast<unsigned>(in.pipe)],
                        {name}, now, now + std::max<Cycle>(in.interval, 1));
        return 0;
    }
    const trace::InstructionId id = recorder_.instruction({name, lanes}, warp, now);
    if (id == 0) return 0;
    recorder_.stage(id, names_.issue, now);
    if (lanes == 0) {
        recorder_.retire(id, now + 1);
        return 0;
    }
    const bool is_memory = in.kind == InstructionKind::kMemory;
    recorder_.stage(id, is_memory ? names_.queue : names_.read, now + RegisterFile::kFromIssue);
    if (is_memory) return id;
    const Cycle execute = now + RegisterFile::kFromIssue + parameters_.read_window;
    recorder_.stage(id, names_.execute, execute);
    Cycle end = execute + std::max<Cycle>(in.interval, 1);
    if (in.kind == InstructionKind::kVariable) {
        end = std::max(end, now + in.latency);
        recorder_.stage(id, names_.write_back, end);
        ++end;
    }
    recorder_.retire(id, end);
    return id;
}

void SmTrace::queues(const L1Queues& l1, std::uint32_t outstanding, Cycle at) {
    recorder_.counter(l1_data_, static_cast<double>(l1.data), at);
    recorder_.counter(l1_misses_, static_cast<double>(l1.misses), at);
    recorder_.counter(l1_crossbar_, static_cast<double>(l1.crossbar), at);
    recorder_.counter(outstanding_, outstanding, at);
}

void SmTrace::sample(const SmCounters& sm, const MemoryCounters& memory, Cycle at) {
    if (at <= sampled_) return;
    const std::uint64_t sectors = memory.all().sectors;
    recorder_.counter(ipc_, per_cycle(sm.instructions, instructions_, at - sampled_), at);
    recorder_.counter(l1_sectors_, per_cycle(sectors, sectors_, at - sampled_), at);
    recorder_.counter(resident_,
                      static_cast<double>(std::count_if(
                          open_.begin(), open_.end(),
                          [](const Open& open) { return open.state != WarpState::kCount; })),
                      at);
    instructions_ = sm.instructions;
    sectors_ = sectors;
    sampled_ = at;
}

}  // namespace lockstep::gpu
