// SPDX-License-Identifier: Apache-2.0
// Executables of the suites silicon and counters, run by this program's own verb `run`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "validation/compare/suite.h"
#include "validation/published/published.h"

namespace lockstep::validation {

using KernelMetrics = std::map<std::string, double, std::less<>>;

struct SimulatedProgram {
    double cycles = 0, seconds = 0;      ///< of all its kernels
    std::string work_class;              ///< gpu_class()
    std::vector<KernelMetrics> kernels;  ///< every number of their statistics
};

/// `overrides`: path=value, separated by blanks; `l2`: cold or warm. Throws InputError where the
/// program can't be run.
SimulatedProgram simulate_program(const std::string& path, const std::string& machine,
                                  const std::string& overrides, const std::string& l2);

/// What a row of silicon.csv ran: its program, and the one whose work is taken off, if any.
struct SimulatedRow {
    SimulatedProgram all, less;
};

/// Runs DIR/SET/PROGRAM of the row, DIR being the request's; nothing where one is not there.
std::optional<SimulatedRow> simulate_row(const Table& silicon, std::size_t row,
                                         const Request& request);

/// Throws InputError where the request names an unknown machine, or a folder that is none.
void check_programs(const Request& request);

/// Of the machine that the request names, or of any.
bool is_asked_for(const Request& request, const std::string& machine);

/// Throws InputError that no row is left.
[[noreturn]] void no_row(const Request& request, std::string_view suite);

}  // namespace lockstep::validation
