// SPDX-License-Identifier: Apache-2.0
// The verbs of the lockstep program. Each adds its subcommand; its callback does the work and
// returns by setting `status`.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep::cli {

void add_run(CLI::App& app, int& status);
void add_machines(CLI::App& app, int& status);
void add_workloads(CLI::App& app, int& status);
void add_disasm(CLI::App& app, int& status);
void add_demo(CLI::App& app, int& status);

}  // namespace lockstep::cli
