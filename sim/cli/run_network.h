// SPDX-License-Identifier: Apache-2.0
// Networks on a TPU: an .onnx file or a built-in one, compiled, run and checked.
#pragma once

#include "sim/cli/run_request.h"

namespace lockstep::config {
class Machine;
}

namespace lockstep::cli {

/// Returns the exit status.
int run_network(const RunRequest& request, const config::Machine& machine);

}  // namespace lockstep::cli
