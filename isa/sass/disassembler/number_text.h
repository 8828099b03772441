// SPDX-License-Identifier: Apache-2.0
// Floating-point immediates as nvdisasm writes them.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::sass {

std::string float32_text(std::uint32_t bits);
/// The immediate holds the high 32 bits of a double.
std::string float64_text(std::uint32_t high_bits);
std::string float16_text(std::uint16_t bits);
std::string bfloat16_text(std::uint16_t bits);

}  // namespace lockstep::sass
