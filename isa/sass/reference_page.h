// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lockstep::sass {

/// The reference page of SASS (instructions.md): each mnemonic with its opcodes, the architectures
/// that have it, those on which it executes, and its pipe.
std::string reference_page();

}  // namespace lockstep::sass
