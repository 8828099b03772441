// SPDX-License-Identifier: Apache-2.0
// Executables of suite silicon, run by this program's own verb `run`.
#pragma once

#include <string>

namespace lockstep::validation {

struct SimulatedProgram {
    double cycles = 0, seconds = 0;  ///< of all its kernels
    std::string work_class;          ///< gpu_class()
};

/// `overrides`: path=value, separated by blanks; `l2`: cold or warm. Throws InputError where the
/// program can't be run.
SimulatedProgram simulate_program(const std::string& path, const std::string& machine,
                                  const std::string& overrides, const std::string& l2);

}  // namespace lockstep::validation
