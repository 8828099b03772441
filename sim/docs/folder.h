// SPDX-License-Identifier: Apache-2.0
// A folder of many files that is there whole or not at all.
#pragma once

#include <map>
#include <string>

namespace lockstep::docs {

/// Writes `files` (path -> content) beside `folder` and gives the whole that name at once. A folder
/// with this name is replaced if it is empty or was written by this function: it has the file
/// `marker`. Throws InputError where it holds anything else or nothing can be written.
void write_folder(const std::string& folder, const std::map<std::string, std::string>& files,
                  const std::string& marker);

}  // namespace lockstep::docs
