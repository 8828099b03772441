// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/check/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "isa/cubin/demangle.h"
#include "isa/sass/disassembler/disassembler.h"
#include "isa/sass/program.h"

namespace lockstep::gpu::check {

namespace {

const char* name(sass::Space space) {
    return space == sass::Space::kShared  ? "shared"
           : space == sass::Space::kLocal ? "local"
                                          : "global";
}

const char* name(RaceKind kind) {
    switch (kind) {
        case RaceKind::kReadAfterWrite:
            return "read after write";
        case RaceKind::kWriteAfterRead:
            return "write after read";
        default:
            return "write after write";
    }
}

std::string index(std::uint64_t linear, const sass::Dim3& size) {
    return fmt::format("({},{},{})", linear % size.x, linear / size.x % size.y,
                       linear / size.x / size.y);
}

}  // namespace

void Findings::begin_launch(const sass::Launch& launch, SourceLine source_line) {
    launch_ = &launch;
    source_line_ = std::move(source_line);
    found_.clear();
}

Findings::Finding& Findings::count(std::string what, std::uint32_t pc, std::uint32_t other_pc) {
    Finding& finding = found_[{std::move(what), pc, other_pc}];
    if (finding.count++ == 0) finding.order = found_.size();
    return finding;
}

std::string Findings::place(sass::Space space, std::uint64_t address, unsigned bytes) const {
    if (space != sass::Space::kGlobal)
        return fmt::format("  place        {} memory, offset {:#x}, {} bytes\n", name(space),
                           address, bytes);
    const memory::Allocation allocation = memory_.allocation(address);
    return fmt::format(
        "  place        global memory, {:#x}, {} bytes: byte {} of an allocation of {} "
        "at {:#x}\n",
        address, bytes, address - allocation.begin, allocation.bytes, allocation.begin);
}

std::string Findings::thread(const char* what, std::uint64_t cta, std::uint32_t thread,
                             std::uint32_t pc) const {
    const sass::Program& program = *launch_->program;
    const sass::Program::Function* const function = program.function_at(pc);
    std::string instruction = "outside of the program's code";
    if (function != nullptr) {
        const std::uint64_t offset = (pc - function->first) * std::uint64_t{sass::Word::kBytes};
        instruction = fmt::format("{:#06x}{}  {}", offset,
                                  function == program.function_at(launch_->entry)
                                      ? ""
                                      : " of " + cubin::demangled(function->name),
                                  sass::disassemble(program.words()[pc], program.arch(), offset));
    }
    const std::string line = source_line_ ? source_line_(pc) : "";
    return fmt::format("  {:<12} CTA {} thread {}: {}{}\n", what, index(cta, launch_->grid),
                       index(thread, launch_->block), instruction,
                       line.empty() ? "" : "  (" + line + ")");
}

void Findings::add(const Race& race) {
    Finding& finding =
        count(fmt::format("race: {} in {} memory", name(race.kind), name(race.space)),
              race.later.pc(), race.earlier.pc());
    if (finding.count > 1) return;
    const bool reads_later = race.kind == RaceKind::kReadAfterWrite;
    const bool reads_earlier = race.kind == RaceKind::kWriteAfterRead;
    finding.text = place(race.space, race.address, race.bytes) +
                   thread(reads_later ? "read by" : "written by", race.later.cta,
                          race.later.thread(), race.later.pc()) +
                   thread(reads_earlier ? "read by" : "written by", race.earlier.cta,
                          race.earlier.thread(), race.earlier.pc());
}

void Findings::add(const UnwrittenRead& read, const sass::Warp& warp) {
    Finding& finding = count(
        fmt::format("init: {} memory is read and was never written", name(read.space)), read.pc, 0);
    if (finding.count > 1) return;
    finding.text = place(read.space, read.address, read.bytes) +
                   thread("read by", warp.cta->linear_index,
                          warp.index * sass::kWarpSize + read.lane, read.pc);
}

void Findings::add(const Misuse& misuse, const sass::Cta& cta) {
    Finding& finding = count(fmt::format("{}: {}", misuse.check, misuse.what), misuse.pc,
                             misuse.has_other ? misuse.other_pc : 0);
    if (finding.count > 1) return;
    finding.text =
        thread("by", cta.linear_index, misuse.warp * sass::kWarpSize + misuse.lane, misuse.pc);
    if (misuse.has_other)
        finding.text +=
            thread(misuse.other_what.c_str(), misuse.other_cta.value_or(cta.linear_index),
                   misuse.other_thread, misuse.other_pc);
}

std::string Findings::report() const {
    if (found_.empty()) return "";
    std::vector<std::pair<const Key*, const Finding*>> order;
    for (const auto& [key, finding] : found_) order.emplace_back(&key, &finding);
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a.second->order < b.second->order; });
    const sass::Program::Function* const kernel = launch_->program->function_at(launch_->entry);
    std::string text = fmt::format(
        "checks found {} in kernel {}, grid ({},{},{}), block ({},{},{})\n",
        order.size() == 1 ? "a fault" : fmt::format("{} faults", order.size()),
        kernel != nullptr ? cubin::demangled(kernel->name) : "(unknown)", launch_->grid.x,
        launch_->grid.y, launch_->grid.z, launch_->block.x, launch_->block.y, launch_->block.z);
    constexpr std::size_t kShown = 50;
    for (std::size_t i = 0; i < order.size() && i < kShown; ++i) {
        const auto& [key, finding] = order[i];
        text += fmt::format(
            "{}, {}\n{}", std::get<0>(*key),
            finding->count == 1 ? "once" : fmt::format("{} times; the first:", finding->count),
            finding->text);
    }
    if (order.size() > kShown) text += fmt::format("and {} more\n", order.size() - kShown);
    return text;
}

}  // namespace lockstep::gpu::check
