// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lockstep::sweep {

/// Which build of Lockstep this is: version, commit and the linker's build id. Results of one are
/// not those of another.
const std::string& program_id();

}  // namespace lockstep::sweep
