// SPDX-License-Identifier: Apache-2.0
// Blocks of code as HTML, coloured where the language is known: shell, C++ and CUDA, YAML.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::docs {

/// `language` is what stands behind the fence; without it, commands of ./lockstep and lines that
/// begin with "$ " are taken as a shell's. Lines between such prompts are what commands print.
std::string highlight(std::string_view code, std::string_view language);

/// The whole block; that of a shell can be copied without prompts and outputs.
std::string code_block(std::string_view code, std::string_view language);

}  // namespace lockstep::docs
