// SPDX-License-Identifier: Apache-2.0
// What containers hold, as text for people.
#pragma once

#include <span>
#include <string>

#include "isa/cubin/cubin.h"
#include "isa/cubin/fatbin.h"

namespace lockstep::cubin {

/// The head of a function's listing: name, resources, launch limits, parameters, one fact a line.
/// Lines start with `prefix`.
std::string describe(const Cubin& cubin, const Function& function, std::string_view prefix = "");

/// The module: machine, functions with their resources, variables.
std::string listing(const Cubin& cubin);

/// One line an image: kind, target, size, compression.
std::string listing(std::span<const Image> images);

}  // namespace lockstep::cubin
