// SPDX-License-Identifier: Apache-2.0
// The computer that Lockstep runs on. It is measured, not modelled.
#pragma once

#include <vector>

#include "sim/config/row.h"

namespace lockstep::host {

/// What machine files of kind "host" have.
std::vector<config::Entry> parameter_entries();

/// Threads that networks run on: what the machine says, or all that there are.
unsigned threads(const config::Machine& machine);

}  // namespace lockstep::host
