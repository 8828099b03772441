// SPDX-License-Identifier: Apache-2.0
// A lab (sim/lab/labs) as a page to read: its steps and questions, without pictures and checks.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::docs {

/// The lab as Markdown. Throws InputError where the text is no lab.
std::string lab_page(std::string_view yaml);

}  // namespace lockstep::docs
