// SPDX-License-Identifier: Apache-2.0
// The verbs of the lockstep program. Each adds its subcommand; its callback does the work and
// returns by setting `status`. `after_dashes` is what stood behind `--`, untouched.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

using Words = std::vector<std::string>;

/// For options that name a file or machine: "" (a shell's unset variable) would be as none given.
inline std::string is_name(const std::string& text) {
    return text.empty() ? "the name is empty" : "";
}

void add_run(CLI::App& app, const Words& after_dashes, int& status);
void add_machines(CLI::App& app, int& status);
void add_workloads(CLI::App& app, int& status);
void add_disasm(CLI::App& app, int& status);
void add_sweep(CLI::App& app, const Words& after_dashes, int& status);
void add_completion(CLI::App& app, const Words& after_dashes, int& status);
void add_choose(CLI::App& app, int& status);
void add_compare(CLI::App& app, int& status);
void add_diff(CLI::App& app, int& status);
void add_docs(CLI::App& app, int& status);
void add_lab(CLI::App& app, int& status);
void add_demo(CLI::App& app, const Words& after_dashes, int& status);

}  // namespace lockstep::cli
