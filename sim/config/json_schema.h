// SPDX-License-Identifier: Apache-2.0
// Machine files as JSON Schema (draft 2020-12), for editors: which keys there are, what they mean,
// their units and ranges. Made from the rows that read the files. The reader stays the judge: what
// a kind's settle() refuses, no schema says.
#pragma once

#include <string>
#include <string_view>

#include "sim/config/schema.h"

namespace lockstep::config {

inline constexpr std::string_view kJsonSchemaDialect =
    "https://json-schema.org/draft/2020-12/schema";

/// The schema of a kind's machine files, as text that ends with a new line.
std::string json_schema(const Kind& kind);

}  // namespace lockstep::config
