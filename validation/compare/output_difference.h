// SPDX-License-Identifier: Apache-2.0
// Where an output of the silicon and one of ours differ.
#pragma once

#include <string>

#include "validation/measure/allocation_log.h"

namespace lockstep::validation {

/// One line: how many words differ, and of the first its index and both values. The silicon's bytes
/// are those of measured.value, or of the file of its hash in `folder`; where there are none, the
/// line says how to get them. Throws InputError where the file does not hold them.
std::string output_difference(const Output& measured, const Output& ours,
                              const std::string& folder);

}  // namespace lockstep::validation
