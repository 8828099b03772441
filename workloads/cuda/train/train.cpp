// SPDX-License-Identifier: Apache-2.0
// The training program where there is no nvcc: the same source as train.cu, on a Device.
#include "workloads/cuda/train/train.h"

#include "workloads/cuda/train/device_backend.h"
#include "workloads/cuda/train/program.h"

namespace lockstep::cuda {

ProgramResult run_training(Device& device, std::span<const std::string> arguments, std::FILE* out) {
    DeviceBackend backend(device);
    const int status = run_program(backend, parse_program_options(arguments), out);
    return {status, backend.warp_instructions()};
}

}  // namespace lockstep::cuda
