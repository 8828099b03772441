// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/tpu/parameters.h"
#include "sim/config/row.h"

namespace lockstep::tpu {

/// What machine files of kind "tpu" have.
std::vector<config::Entry> parameter_entries();

/// Fills what the rows have members for.
void read_parameters(const config::Machine& machine, Parameters& into);

}  // namespace lockstep::tpu
