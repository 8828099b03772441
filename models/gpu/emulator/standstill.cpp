// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/emulator/standstill.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "isa/sass/convergence.h"

namespace lockstep::gpu {

namespace {

/// A look at every so many calls, that those who only wait for a while are not slowed down.
constexpr unsigned kCallsPerLook = 4;
/// Reads of a clock that are skipped: weeks.
constexpr std::uint64_t kJump = std::uint64_t{1} << 45;

}  // namespace

void Standstill::look(std::span<sass::Cta* const> ctas, InstructionCount& count,
                      check::Checker* checker) {
    if (++calls_ % kCallsPerLook != 0) return;
    waits_.clear();
    bool reads_clock = false;
    const auto step_once = [&](sass::Warp& warp) {
        const std::uint64_t before = warp.cta->clock_reads;
        step(warp, count, checker);
        return std::exchange(warp.cta->clock_reads, before) != before;
    };
    for (sass::Cta* const cta : ctas) {
        for (sass::Warp* const warp : cta->warps) {
            if (warp->live == 0 || (warp->active == 0 && !sass::resume(*warp))) continue;
            const WarpFinding finding = watch(*warp, step_once, waits_);
            if (finding == WarpFinding::kUnknown) return;
            reads_clock |= finding == WarpFinding::kReadsClock;
        }
    }
    if (waits_.empty()) return;
    if (reads_clock && !std::exchange(has_jumped_, true)) {
        for (sass::Cta* const cta : ctas) cta->clock_reads += kJump;
        return;
    }
    report(ctas);
}

void Standstill::report(std::span<sass::Cta* const> ctas) const {
    constexpr std::size_t kMostText = 1200;
    std::string text;
    const auto add = [&text](const std::string& more) {
        if (text.size() < kMostText) text += (text.empty() ? "" : "; ") + more;
    };
    const auto name = [&](const sass::Cta& cta) {
        return ctas.size() == 1 ? "" : fmt::format("CTA {} ", cta.linear_index);
    };
    std::vector<std::pair<std::uint64_t, std::uint32_t>> named;
    for (const PhaseWait& wait : waits_) {
        const std::pair key{wait.cta->linear_index << 16 | wait.warp, wait.pc};
        if (std::find(named.begin(), named.end(), key) != named.end()) continue;
        named.push_back(key);
        add(fmt::format("{}warp {} lanes {:#010x} wait for {}", name(*wait.cta), wait.warp,
                        wait.lanes, wait.what));
    }
    for (const sass::Cta* cta : ctas)
        for (const sass::Warp* warp : cta->warps)
            for (const sass::Path& path : warp->parked)
                if (path.status != sass::PathStatus::kReady)
                    add(fmt::format("{}warp {} lanes {:#010x} at {}", name(*cta), warp->index,
                                    path.lanes, place_of(path)));
    const PhaseWait& first = waits_.front();
    throw LocatedFault{{.kind = sass::FaultKind::kDeadlock,
                        .what = fmt::format("no thread of the {} can go on ({})",
                                            ctas.size() == 1 ? "CTA" : "cluster", text),
                        .lane = static_cast<unsigned>(std::countr_zero(first.lanes))},
                       first.cta->linear_index,
                       first.warp,
                       first.pc};
}

}  // namespace lockstep::gpu
