// SPDX-License-Identifier: Apache-2.0
// Numbers as a person writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::lab {

/// "12", "1,118", "1 118", "4.2e3", "-7", with `unit` behind it or without ("42.86 %"). Nothing
/// where it is no number.
std::optional<double> number_of(std::string_view text, std::string_view unit);

/// At most six digits that count, whole numbers whole.
std::string number_text(double number);

}  // namespace lockstep::lab
