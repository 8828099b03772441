// SPDX-License-Identifier: Apache-2.0
// The schema by section, so that what belongs to one unit stands in one file.
#pragma once

#include "sim/config/schema.h"

namespace lockstep::config {

std::span<const Entry> gpu_general();      ///< schema_gpu.cpp: the chip, its clocks, its limits
std::span<const Entry> gpu_core();         ///< schema_gpu_core.cpp: sub-cores, pipes, launch
std::span<const Entry> gpu_memory_unit();  ///< schema_gpu_memory_unit.cpp: the SM's L1 side
std::span<const Entry> gpu_memory();       ///< schema_gpu_memory.cpp: crossbar, L2, MMU, DRAM
std::span<const Entry> gpu_system();       ///< schema_gpu_system.cpp: the link, the host's times
std::span<const Entry> systolic();         ///< schema_systolic.cpp: the bare array
std::span<const Entry> tpu();              ///< schema_tpu.cpp: a TPU core

}  // namespace lockstep::config
