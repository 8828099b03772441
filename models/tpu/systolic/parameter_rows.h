// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/tpu/systolic/array.h"
#include "sim/config/row.h"

namespace lockstep::tpu {

/// What machine files of kind "systolic" have.
std::vector<config::Entry> array_entries();

/// Fills what the rows have members for.
void read_parameters(const config::Machine& machine, ArrayParameters& into);

}  // namespace lockstep::tpu
