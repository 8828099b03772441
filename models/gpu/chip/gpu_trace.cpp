// SPDX-License-Identifier: Apache-2.0
// An instruction's stages: issue, the reading of its operands, execution for as long as it holds
// its pipe; instructions of variable latency then have a write-back, those of memory wait in a
// queue and are in the memory unit until theirs. A fixed-latency result has no write-back of its
// own: that it is there in time is the compiler's promise, kept by stall counts.
#include "models/gpu/chip/gpu_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "isa/sass/disassembler/disassembler.h"
#include "models/gpu/chip/signal_writer.h"
#include "models/gpu/sm/register_file.h"

namespace lockstep::gpu {

using engine::Cycle;

namespace {

/// Cycles between two points of the counters' curves, at least.
constexpr Cycle kSampleCycles = 128;

constexpr const char* kStateNames[] = {"eligible",
                                       "not selected",
                                       "wait",
                                       "long scoreboard",
                                       "short scoreboard",
                                       "barrier",
                                       "membar",
                                       "branch resolving",
                                       "no instruction",
                                       "math pipe",
                                       "mio throttle",
                                       "lg throttle",
                                       "tex throttle",
                                       "constant miss",
                                       "dispatch stall",
                                       "drain",
                                       "sleeping",
                                       "misc",
                                       "gmma"};
static_assert(std::size(kStateNames) == kWarpStates);

constexpr const char* kPipeNames[] = {"alu", "fma",    "fma heavy", "fp16", "fp64",
                                      "xu",  "tensor", "uniform",   "lsu",  "adu",
                                      "cbu", "tma",    "dispatch"};
static_assert(std::size(kPipeNames) == kPipes);

double per_cycle(std::uint64_t now, std::uint64_t before, Cycle cycles) {
    return static_cast<double>(now - before) / static_cast<double>(cycles);
}

}  // namespace

SmTrace::SmTrace(trace::Trace& trace, const TraceNames& names, const SmParameters& parameters,
                 unsigned sm)
    : recorder_(trace.recorder()),
      names_(names),
      shows_instructions_(trace.shows_instructions()),
      parameters_(parameters),
      open_(parameters.max_warps) {
    const bool waves = trace.shows_waves();
    const std::string group = waves ? fmt::format("sm{}", sm) : fmt::format("SM {}", sm);
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
    const std::uint64_t sectors = memory.sectors_load_hit + memory.sectors_load_miss +
                                  memory.sectors_store + memory.sectors_atomic;
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

std::unique_ptr<GpuTrace> GpuTrace::make(engine::Simulation& simulation,
                                         const config::Machine& machine,
                                         const SmParameters& parameters, const MemorySystem& memory,
                                         const TraceOptions& options) {
    if (options.file.empty() && !options.signals) return nullptr;
    return std::make_unique<GpuTrace>(simulation, machine, parameters, memory, options);
}

GpuTrace::GpuTrace(engine::Simulation& simulation, const config::Machine& machine,
                   const SmParameters& parameters, const MemorySystem& memory,
                   const TraceOptions& options)
    : is_signals_(options.signals),
      trace_(options.signals ? trace::Trace(std::make_unique<SignalWriter>(
                                                simulation, engine::ClockDomain::from_megahertz(
                                                                machine.number("clock.sm"))),
                                            {options.from, options.until})
                             : trace::Trace(options.file, {options.from, options.until},
                                            fmt::format("{} at {} MHz", machine.name(),
                                                        machine.number("clock.sm")))),
      first_(options.first_sm) {
    if (options.last_sm >= static_cast<std::uint64_t>(machine.integer("sm.count")))
        throw InputError(fmt::format("--trace-sms: {} has no SM {}; its SMs are 0 to {}",
                                     machine.name(), options.last_sm,
                                     machine.integer("sm.count") - 1));
    for (unsigned state = 0; state < kWarpStates; ++state)
        names_.state[state] = trace_.name(kStateNames[state]);
    names_.cta = trace_.name("CTA");
    names_.none = trace_.name("");
    names_.issue = trace_.name("Is");
    names_.read = trace_.name("Rd");
    names_.execute = trace_.name("Ex");
    names_.queue = trace_.name("Qu");
    names_.memory = trace_.name("Mm");
    names_.write_back = trace_.name("Wb");
    using enum trace::TrackKind;
    // A waveform is written in the order of time; a kernel is told at its end.
    if (!trace_.shows_waves()) kernels_.push_back(trace_.track(group(), "kernels"));
    dram_read_ = trace_.track(group(), "DRAM bytes read per cycle", kReal);
    dram_write_ = trace_.track(group(), "DRAM bytes written per cycle", kReal);
    l2_sectors_ = trace_.track(group(), "L2 sectors per cycle", kReal);
    if (trace_.shows_waves()) add_waves(memory);
    chip_ = &trace_.recorder();
    system_ = &trace_.recorder();
    for (unsigned sm = options.first_sm; sm <= options.last_sm; ++sm)
        sms_.push_back(std::make_unique<SmTrace>(trace_, names_, parameters, sm));
}

void GpuTrace::add_waves(const MemorySystem& memory) {
    for (std::size_t i = 0; i < memory.partitions(); ++i) {
        const MemoryPartition& partition = memory.partition(i);
        const auto number = [&](const std::string& name) {
            return trace_.track(partition.name(), name, trace::TrackKind::kInteger);
        };
        PartitionWaves& waves = partitions_.emplace_back();
        waves.replies = number("replies to send");
        for (std::size_t s = 0; s < partition.slices().size(); ++s) {
            waves.slices.push_back(number(fmt::format("slice{} queue", s)));
            waves.misses.push_back(number(fmt::format("slice{} misses", s)));
        }
        for (std::size_t c = 0; c < partition.channels().size(); ++c)
            waves.channels.push_back(number(fmt::format("dram{} queue", c)));
    }
}

bool GpuTrace::wants_queues(Cycle now) const {
    return !partitions_.empty() && trace_.window().contains(now + static_cast<Cycle>(shift_));
}

void GpuTrace::queues(const MemorySystem& memory, Cycle now) {
    const auto note = [&](trace::TrackId track, std::size_t entries) {
        chip_->counter(track, static_cast<double>(entries), now);
    };
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
        const MemoryPartition& partition = memory.partition(i);
        const PartitionWaves& waves = partitions_[i];
        note(waves.replies, partition.replies());
        for (std::size_t s = 0; s < waves.slices.size(); ++s) {
            note(waves.slices[s], partition.slices()[s]->queue());
            note(waves.misses[s], partition.slices()[s]->misses());
        }
        for (std::size_t c = 0; c < waves.channels.size(); ++c)
            note(waves.channels[c], partition.channels()[c].queue());
    }
}

void GpuTrace::begin_kernels(Cycle at) {
    before_ = {};
    sampled_ = at;
    for (const std::unique_ptr<SmTrace>& sm : sms_) sm->begin_kernel(at);
}

const trace::NameId* GpuTrace::names_of(const sass::Program& program) {
    std::vector<trace::NameId>& names = instructions_[&program];
    names.resize(program.words().size());
    for (const sass::Program::Function& function : program.functions()) {
        if (!function.bound) continue;
        for (std::uint32_t i = 0; i < function.count; ++i) {
            const std::uint32_t index = function.first + i;
            const std::uint64_t offset = std::uint64_t{i} * sass::Word::kBytes;
            names[index] = trace_.name(
                fmt::format("{:04x} {}", offset,
                            sass::disassemble(program.words()[index], program.arch(), offset)));
        }
    }
    return names.data();
}

void GpuTrace::end_kernel(const std::string& name, unsigned lane, Cycle begin, Cycle end) {
    if (!trace_.shows_waves()) {
        while (kernels_.size() <= lane)
            kernels_.push_back(
                trace_.track(group(), fmt::format("kernels beside, {}", kernels_.size())));
        chip_->slice(kernels_[lane], {trace_.name(name)}, begin, end);
    }
    trace_.complete();
}

void GpuTrace::shift(std::int64_t cycles) {
    if (is_signals_) return;  // they are on the chip's own clock
    shift_ = cycles;
    chip_->shift(cycles);
    for (const std::unique_ptr<SmTrace>& sm : sms_) sm->shift(cycles);
}

void GpuTrace::slice(const std::string& track, const std::string& name, Cycle begin, Cycle end) {
    if (trace_.shows_tracks() && !is_signals_)
        system_->slice(trace_.track("system", track), {trace_.name(name)}, begin, end);
}

bool GpuTrace::wants_sample(Cycle now) const {
    const Cycle at = now + static_cast<Cycle>(shift_);
    return now >= sampled_ + kSampleCycles && trace_.shows_tracks() && at < trace_.window().until &&
           at >= trace_.window().from;
}

void GpuTrace::sample(const PartitionCounters& memory, Cycle now) {
    const auto sectors = [](const PartitionCounters& c) {
        return c.sectors_read_hit + c.sectors_read_miss + c.sectors_write_hit +
               c.sectors_write_miss + c.atomics;
    };
    const Cycle cycles = now - sampled_;
    chip_->counter(dram_read_, per_cycle(memory.dram_bytes_read, before_.dram_bytes_read, cycles),
                   now);
    chip_->counter(dram_write_,
                   per_cycle(memory.dram_bytes_written, before_.dram_bytes_written, cycles), now);
    chip_->counter(l2_sectors_, per_cycle(sectors(memory), sectors(before_), cycles), now);
    before_ = memory;
    sampled_ = now;
}

}  // namespace lockstep::gpu
