// SPDX-License-Identifier: Apache-2.0
// Access to the binary test data of this folder; data/make.sh says how they were made.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/paths.h"

namespace lockstep::cubin {

inline std::vector<uint8_t> read_data(const std::string& name) {
    std::ifstream file(source_path("tests/isa/cubin/data/") + name, std::ios::binary);
    EXPECT_TRUE(file.is_open()) << name;
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace lockstep::cubin
