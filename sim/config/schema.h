// SPDX-License-Identifier: Apache-2.0
// Which parameters a machine of each kind has: path, type, unit, range and meaning. The rows stand
// in the folders of the models (sim/config/row.h); here is what the reader of machine files needs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep::config {

class Settings;

enum class Type : std::uint8_t { kInteger, kNumber, kText, kBoolean };

/// One of the values that a text may have.
struct Choice {
    std::string_view name, meaning;
};

struct Entry {
    std::string_view path;
    Type type;
    std::string_view unit;  ///< canonical: "1", "B", "bit", "MHz", ...; files may use multiples
    double minimum, maximum;
    std::string_view meaning;
    /// Names the machine or bounds what a program may ask for; changes no time.
    bool is_reporting_only = false;
    /// A machine file may leave it out: nothing that every run needs.
    bool is_optional = false;
    /// What a file that leaves it out has; empty: nothing.
    std::string_view default_value = {};
    /// Of a text: what it may be; empty: anything.
    std::span<const Choice> choices = {};
};

struct Kind {
    std::string_view name;  ///< "gpu", "tpu", ...
    std::vector<Entry> entries;
    /// Keeps parameters together that say the same: called after some were set, on the command line
    /// or by a machine file over its base. Throws InputError where what was set contradicts itself.
    void (*settle)(Settings&) = nullptr;
};

/// The kinds there are: a row each in models/kinds.cpp.
std::span<const Kind> kinds();

/// The kind of this name, or nullptr.
const Kind* find_kind(std::string_view name);

}  // namespace lockstep::config
