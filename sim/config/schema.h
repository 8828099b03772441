// SPDX-License-Identifier: Apache-2.0
// Which parameters a machine of each kind has: path, type, unit, range and meaning. A table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::config {

enum class Type : std::uint8_t { kInteger, kNumber, kText, kBoolean };

struct Entry {
    std::string_view path;
    Type type;
    std::string_view unit;  ///< canonical: "1", "B", "bit", "MHz", ...; files may use multiples
    double minimum, maximum;
    std::string_view meaning;
};

/// The entries of a kind ("gpu", ...); empty where there is no such kind.
std::span<const Entry> schema(std::string_view kind);

/// The kinds that have a schema.
std::span<const std::string_view> kinds();

}  // namespace lockstep::config
