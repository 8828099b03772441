// SPDX-License-Identifier: Apache-2.0
// The compiled probes.cu, embedded in the program.
#pragma once

#include <cstdint>
#include <span>

namespace lockstep::validation {

/// For a compute capability from 75 to 90: the newest of its major revision; empty: none.
std::span<const std::uint8_t> probe_image(int arch);

}  // namespace lockstep::validation
