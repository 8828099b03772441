// SPDX-License-Identifier: Apache-2.0
// Pages that are made from tables of the program and stand in the source tree.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/paths.h"

namespace lockstep {

/// Expects the file at `path` of the source tree to hold this text. With LOCKSTEP_WRITE_PAGES set
/// in the environment, it is written first: so are pages made anew after a change.
inline void expect_page(const std::string& path, const std::string& text) {
    const std::string file_name = source_path(path);
    if (std::getenv("LOCKSTEP_WRITE_PAGES") != nullptr) std::ofstream(file_name) << text;
    std::ifstream file(file_name);
    const std::string found{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_TRUE(found == text) << path << " is not up to date; run the test with "
                               << "LOCKSTEP_WRITE_PAGES=1 and look at what changed";
}

}  // namespace lockstep
