// SPDX-License-Identifier: Apache-2.0
// What a row of a profile says in words.
#pragma once

#include <string>

#include "sim/stats/profile.h"

namespace lockstep::stats {

/// What warps wait for most there, as "long scoreboard 93%"; "" where they do not.
std::string main_stall(const Profile& profile, const Profile::Row& row);

}  // namespace lockstep::stats
