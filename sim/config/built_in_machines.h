// SPDX-License-Identifier: Apache-2.0
// The machine files that are part of the program (generated from models/*/machines/*.yaml), and the
// price sheets that they name (models/energy/prices/*.yaml).
#pragma once

#include <span>
#include <string_view>

namespace lockstep::config {

struct BuiltInMachine {
    std::string_view name;
    std::string_view text;
};

std::span<const BuiltInMachine> built_in_machines();
std::span<const BuiltInMachine> built_in_prices();

}  // namespace lockstep::config
