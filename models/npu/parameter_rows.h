// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/npu/parameters.h"
#include "sim/config/row.h"

namespace lockstep::npu {

/// What machine files of kind "npu" have.
std::vector<config::Entry> parameter_entries();

/// Fills what the rows have members for.
void read_parameters(const config::Machine& machine, Parameters& into);

}  // namespace lockstep::npu
