// SPDX-License-Identifier: Apache-2.0
// Counters of instructions, as the statistics show them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "isa/sass/program.h"
#include "models/gpu/sm/sm_profile.h"
#include "sim/stats/profile.h"

namespace lockstep::gpu {

/// The functions of which a warp executed anything. `counters` by code index; `source_line` of a
/// code index ("file.cu:12" or "").
std::shared_ptr<const stats::Profile> make_profile(
    const sass::Program& program, std::span<const InstructionCounters> counters,
    const std::function<std::string(std::uint32_t)>& source_line);

/// Adds the counters of one SM to those of others.
void add_rows(std::vector<InstructionCounters>& sum, std::span<const InstructionCounters> part);

}  // namespace lockstep::gpu
