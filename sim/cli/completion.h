// SPDX-License-Identifier: Apache-2.0
// What the shell may offer at the end of a command line. The program itself is asked at each key,
// so that nothing goes stale: options come from the verbs, machines and parameters from their rows.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct Candidate {
    std::string text;     ///< the whole word
    std::string meaning;  ///< one line, or ""
};

struct Completion {
    std::vector<Candidate> candidates;
    bool files = false;  ///< names of files are right too
};

/// What may stand in place of the last of `words` (which may be empty); the others stand before it,
/// without the program's own name.
Completion complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace lockstep::cli
