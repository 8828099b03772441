// SPDX-License-Identifier: Apache-2.0
// A parameter's value as it is written, checked against its schema.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/place.h"
#include "sim/config/schema.h"

namespace lockstep::config {

/// "; did you mean X?", or nothing where none is near.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates);

const Entry& find_entry(std::span<const Entry> entries, std::string_view path, const Place& place);
bool has_entry(std::span<const Entry> entries, std::string_view path);
/// Whether parameters lie below this path.
bool is_group(std::span<const Entry> entries, std::string_view path);

/// With what each of a text's choices means.
std::string meaning_of_choices(const Entry& entry);

/// The same with a remark where the parameter changes no time.
std::string full_meaning(const Entry& entry);

/// The value in the canonical unit, as text; checks type, unit and range (InputError).
std::string canonical_value(const Entry& entry, const std::string& value, const std::string& unit,
                            const Place& place);

/// The same of a text in which a unit may follow the number, as "50MiB"; without one the canonical
/// unit is meant.
std::string canonical_setting(const Entry& entry, const std::string& text, const Place& place);

}  // namespace lockstep::config
