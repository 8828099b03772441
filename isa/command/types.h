// SPDX-License-Identifier: Apache-2.0
// What every command ISA means by an element.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::command {

enum class DataType : std::uint8_t { kInt8, kUint8, kInt16, kInt32, kBf16, kFp32 };
inline constexpr std::size_t kDataTypes = 6;

inline constexpr std::uint32_t size_of(DataType type) {
    constexpr std::uint32_t kSizes[kDataTypes] = {1, 1, 2, 4, 2, 4};
    return kSizes[static_cast<std::size_t>(type)];
}
inline constexpr bool is_float(DataType type) {
    return type >= DataType::kBf16;
}

}  // namespace lockstep::command
