// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lockstep::cubin {

/// The name of a kernel as its source has it, with its parameters' types; a name that is not
/// mangled stays as it is.
std::string demangled(const std::string& symbol);

}  // namespace lockstep::cubin
