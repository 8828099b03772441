// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "isa/tpu/table.h"
#include "tests/page.h"

namespace lockstep::tpu {
namespace {

TEST(TpuReferencePage, IsWhatTheTableSays) {
    expect_page("isa/tpu/instructions.md", command::reference_page(description()));
}

}  // namespace
}  // namespace lockstep::tpu
