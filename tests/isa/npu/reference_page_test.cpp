// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "isa/npu/table.h"
#include "tests/paths.h"

namespace lockstep::npu {
namespace {

TEST(NpuReferencePage, IsWhatTheTableSays) {
    const std::string path = source_path("isa/npu/instructions.md");
    // Made anew by: LOCKSTEP_WRITE_PAGES=1 test_isa_npu --gtest_filter=NpuReferencePage.*
    const std::string page = command::reference_page(description());
    if (std::getenv("LOCKSTEP_WRITE_PAGES") != nullptr) std::ofstream(path) << page;
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_TRUE(text == page) << path << " is not up to date";
}

}  // namespace
}  // namespace lockstep::npu
