// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "isa/npu/table.h"
#include "tests/page.h"

namespace lockstep::npu {
namespace {

TEST(NpuReferencePage, IsWhatTheTableSays) {
    expect_page("isa/npu/instructions.md", command::reference_page(description()));
}

}  // namespace
}  // namespace lockstep::npu
