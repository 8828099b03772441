// SPDX-License-Identifier: Apache-2.0
// How a run ends whose kernels do not go on, or take too long: whose CTA is to blame, and what its
// warps wait for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "models/gpu/sm/sm.h"

namespace lockstep::gpu {

using Sms = std::span<const std::unique_ptr<Sm>>;

/// What the CTAs of the first SM with some wait for.
std::string explain_waits(Sms sms);
/// Throws the LocatedFault of a CTA; InternalError where there is none.
[[noreturn]] void report_deadlock(Sms sms, const std::string& what);
/// Throws where CTAs are on the chip, none of which can go on.
void report_spin(Sms sms);
/// Throws where more instructions were executed than may be (0: any number).
void check_limit(Sms sms, std::uint64_t most, std::uint64_t instructions);

}  // namespace lockstep::gpu
