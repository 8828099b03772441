// SPDX-License-Identifier: Apache-2.0
// Why a machine does not compute a node.
#pragma once

#include <optional>
#include <string>

#include "sim/error/error.h"

namespace lockstep::network::compile {

/// What a machine lacks for a node, in words that can follow its name; nothing where it has it all.
/// Known from the graph alone, before anything is placed.
using Reason = std::optional<std::string>;

/// What only placing a node's operands shows: that there is no room for them, or that they do not
/// lie as its instructions need them. Thrown while a node is lowered; the compiler then gives the
/// node to the host, or the user the reason.
class Refusal : public InputError {
  public:
    using InputError::InputError;
};

}  // namespace lockstep::network::compile
