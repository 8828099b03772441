// SPDX-License-Identifier: Apache-2.0
// The element types of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::network {

enum class ElementType : std::uint8_t {
    kFp32,
    kFp64,
    kBf16,
    kFp16,
    kInt8,
    kUint8,
    kInt16,
    kInt32,
    kInt64,
    kBool,
};

/// Bytes of one element; a bool takes one.
std::size_t size_of(ElementType type);

/// "fp32", "int8", ...
std::string_view name_of(ElementType type);

/// The type that name_of calls so.
std::optional<ElementType> element_type_named(std::string_view name);

bool is_floating(ElementType type);

}  // namespace lockstep::network
