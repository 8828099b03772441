// SPDX-License-Identifier: Apache-2.0
// The text that a machine is read from.
#pragma once

#include <string>

namespace lockstep::config {

/// Of a built-in machine by name, or a file by path, behind the text of those it is based on: what
/// its values depend on. Throws InputError as Machine::load does.
std::string machine_text(const std::string& name_or_path);

}  // namespace lockstep::config
