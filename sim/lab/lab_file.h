// SPDX-License-Identifier: Apache-2.0
// Reads labs/NAME.yaml and key/NAME.yaml; README.md says what stands in them.
#pragma once

#include <string>

#include "sim/lab/lab.h"

namespace lockstep::lab {

/// `file`: its name in messages. Throws InputError with file:line and the nearest right thing.
Lab read_lab(const std::string& file, const std::string& text);

/// Every question has an answer of its kind, and every answer a question. Throws InputError.
Key read_key(const std::string& file, const std::string& text, const Lab& lab);

}  // namespace lockstep::lab
