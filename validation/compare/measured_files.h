// SPDX-License-Identifier: Apache-2.0
// validation/measured/MACHINE/*.json, which are built in.
#pragma once

#include <span>
#include <string_view>

namespace lockstep::validation {

struct MeasuredText {
    std::string_view machine, name, text;
};

std::span<const MeasuredText> measured_files();

}  // namespace lockstep::validation
