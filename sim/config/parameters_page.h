// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/schema.h"

namespace lockstep::config {

/// The reference page of a kind's parameters: path, unit, range and meaning of each, by the first
/// word of the path.
std::string parameters_page(const Kind& kind);

}  // namespace lockstep::config
