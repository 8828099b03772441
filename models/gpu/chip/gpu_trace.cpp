// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/chip/gpu_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/sass/disassembler/disassembler.h"
#include "models/gpu/chip/signal_writer.h"

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

}  // namespace

std::unique_ptr<GpuTrace> GpuTrace::make(engine::Simulation& simulation,
                                         const config::Machine& machine,
                                         const SmParameters& parameters, const MemorySystem& memory,
                                         const TraceOptions& options, const std::string& prefix) {
    if (options.file.empty() && !options.signals) return nullptr;
    return std::make_unique<GpuTrace>(simulation, machine, parameters, memory, options, prefix);
}

GpuTrace::GpuTrace(engine::Simulation& simulation, const config::Machine& machine,
                   const SmParameters& parameters, const MemorySystem& memory,
                   const TraceOptions& options, const std::string& prefix)
    : is_signals_(options.signals),
      prefix_(prefix),
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
        sms_.push_back(std::make_unique<SmTrace>(trace_, names_, parameters, sm, prefix_));
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
