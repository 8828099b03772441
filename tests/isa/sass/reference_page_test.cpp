// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/reference_page.h"

#include "tests/page.h"

namespace lockstep::sass {
namespace {

TEST(SassReferencePage, IsWhatTheTablesSay) {
    expect_page("isa/sass/instructions.md", reference_page());
}

}  // namespace
}  // namespace lockstep::sass
