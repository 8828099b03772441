// SPDX-License-Identifier: Apache-2.0
// The parameters of a GPU, a table for each unit. A parameter is a row there, and a member of the
// unit's struct where the row has one.
#pragma once

#include <span>
#include <vector>

#include "models/gpu/chip/gcc_parameters.h"
#include "models/gpu/cluster/cluster_parameters.h"
#include "models/gpu/memory/memory_parameters.h"
#include "models/gpu/sm/memory_unit_parameters.h"
#include "models/gpu/sm/sm_parameters.h"
#include "sim/config/row.h"

namespace lockstep::gpu {

std::span<const config::Row<config::NoMembers>> chip_rows();              // chip_rows.cpp
std::span<const config::Row<GccParameters>> gcc_rows();                   // gcc_rows.cpp
std::span<const config::Row<SmParameters>> sm_rows();                     // sm/sm_rows.cpp
std::span<const config::Row<MemoryUnitParameters>> memory_unit_rows();    // sm/memory_unit_rows.cpp
std::span<const config::Row<MemoryParameters>> memory_rows();             // memory/memory_rows.cpp
std::span<const config::Row<memory::dram::Policies>> dram_policy_rows();  // memory/memory_rows.cpp
std::span<const config::Row<config::NoMembers>> system_rows();            // system_rows.cpp

/// What machine files of kind "gpu" have.
std::vector<config::Entry> parameter_entries();

}  // namespace lockstep::gpu
