// SPDX-License-Identifier: Apache-2.0
// Which Lockstep this is.
#pragma once

#include <string_view>

namespace lockstep::stats {

/// As "0.1.0".
std::string_view version();
/// The commit that was built, with "-modified" where files differed from it; "" where it was not
/// built in a repository.
std::string_view commit();

}  // namespace lockstep::stats
