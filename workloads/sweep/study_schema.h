// SPDX-License-Identifier: Apache-2.0
// The keys of study files, and the same as JSON Schema (draft 2020-12) for editors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::sweep {

/// What stands behind a key.
enum class Shape : std::uint8_t {
    kText,         ///< a value
    kCount,        ///< a whole number from 0
    kTruth,        ///< true or false
    kList,         ///< a value, or a list of them
    kPairs,        ///< name: value
    kListOrPairs,  ///< either
    kAxes,         ///< name: a list of values, or a text with commas
};

struct StudyKey {
    std::string_view name;
    Shape shape;
    std::string_view meaning;
    std::vector<std::string_view> choices = {};  ///< of a text; empty: any
};

/// All keys, as the reader of study files has them.
std::vector<StudyKey> study_keys();

/// The schema of study files, as text that ends with a new line.
std::string study_schema();

}  // namespace lockstep::sweep
