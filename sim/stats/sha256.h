// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): by it measurements name the cubins that ran and the outputs they left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lockstep::validation {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);
inline std::string sha256(std::span<const std::uint8_t> bytes) {
    return sha256(std::as_bytes(bytes));
}

}  // namespace lockstep::validation
