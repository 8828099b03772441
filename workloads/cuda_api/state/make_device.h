// SPDX-License-Identifier: Apache-2.0
// From how a run is configured to the machine that it runs on; the command line and the runtime
// library share it.
#pragma once

#include <memory>

#include "models/device.h"
#include "workloads/cuda_api/state/run_options.h"

namespace lockstep::cuda {

/// What the options say to the device. Throws InputError on what is malformed or does not go
/// together.
DeviceOptions device_options(const RunOptions& options);

/// The machine of the options, overrides applied. Throws InputError; also where it is no GPU.
std::shared_ptr<const config::Machine> load_machine(const RunOptions& options);

/// Emulator or cycle model, as the mode says.
std::unique_ptr<Device> make_device(const RunOptions& options);

}  // namespace lockstep::cuda
