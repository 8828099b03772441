// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): by it measurements name the cubins that ran and the outputs they left, and
// statistics the machine file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::stats {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);
inline std::string sha256(std::span<const std::uint8_t> bytes) {
    return sha256(std::as_bytes(bytes));
}
inline std::string sha256(std::string_view text) {
    return sha256(std::as_bytes(std::span(text)));
}

}  // namespace lockstep::stats
