// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/chip/profile.h"

#include <algorithm>
#include <string_view>

#include "isa/cubin/demangle.h"
#include "isa/sass/disassembler/disassembler.h"
#include "models/gpu/metrics/groups.h"

namespace lockstep::gpu {

namespace {

constexpr const char* kCounted[] = {
    "inst_executed",  "thread_inst_executed", "l1_requests",    "l1_sectors",
    "l1_sectors_hit", "shared_wavefronts",    "bank_conflicts",
};

std::vector<std::uint64_t> values_of(const InstructionCounters& row) {
    std::vector<std::uint64_t> values = {row.issues,        row.threads,     row.requests,
                                         row.sectors,       row.sectors_hit, row.shared_wavefronts,
                                         row.bank_conflicts};
    values.insert(values.end(), row.warp_cycles.begin(), row.warp_cycles.end());
    return values;
}

}  // namespace

std::shared_ptr<const stats::Profile> make_profile(
    const sass::Program& program, std::span<const InstructionCounters> counters,
    const std::function<std::string(std::uint32_t)>& source_line) {
    auto profile = std::make_shared<stats::Profile>();
    profile->columns.assign(std::begin(kCounted), std::end(kCounted));
    for (unsigned state = 0; state < kWarpStates; ++state)
        profile->columns.push_back(std::string("warp_cycles_") +
                                   state_name(static_cast<WarpState>(state)));
    for (const sass::Program::Function& function : program.functions()) {
        const auto end = std::min<std::size_t>(function.first + function.count, counters.size());
        if (function.first >= end) continue;
        const auto own = counters.subspan(function.first, end - function.first);
        if (std::ranges::all_of(own, [](const auto& row) { return row.issues == 0; })) continue;
        for (std::size_t i = 0; i < own.size(); ++i) {
            const auto index = static_cast<std::uint32_t>(function.first + i);
            const std::uint64_t pc = i * sass::Word::kBytes;
            profile->rows.push_back(
                {.function = cubin::demangled(function.name),
                 .pc = pc,
                 .sass = sass::disassemble(program.words()[index], program.arch(), pc),
                 .source = source_line(index),
                 .values = values_of(own[i])});
        }
    }
    return profile;
}

void add_rows(std::vector<InstructionCounters>& sum, std::span<const InstructionCounters> part) {
    if (sum.size() < part.size()) sum.resize(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) add(sum[i], part[i]);
}

}  // namespace lockstep::gpu
