// SPDX-License-Identifier: Apache-2.0
// Networks on the bare systolic array.
#pragma once

#include "sim/cli/run_request.h"

namespace lockstep::config {
class Machine;
}

namespace lockstep::cli {

/// Runs every matrix product of a built-in network or an .onnx file, each with operands of its own;
/// the array has nothing that could do the operators between them. Returns the exit status.
int run_systolic(const RunRequest& request, const config::Machine& machine);

}  // namespace lockstep::cli
