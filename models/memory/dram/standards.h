// SPDX-License-Identifier: Apache-2.0
// The DRAM standards as rows of data.
#pragma once

#include <span>
#include <string_view>

#include "models/memory/dram/timing.h"

namespace lockstep::memory::dram {

std::span<const Standard> standards();

/// Throws InputError that lists the known names.
const Standard& find_standard(std::string_view name);

}  // namespace lockstep::memory::dram
