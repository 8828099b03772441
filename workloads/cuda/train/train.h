// SPDX-License-Identifier: Apache-2.0
// The training program on a Device.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "models/device.h"

namespace lockstep::cuda {

struct ProgramResult {
    int status = 0;  ///< 0, or 5 where the trained weights are not the reference's
    std::uint64_t warp_instructions = 0;
};

/// Trains an MLP and a CNN on digits (train/program.h: the options) and prints loss and accuracy by
/// epoch. Throws InputError on bad options or files.
ProgramResult run_training(Device& device, std::span<const std::string> arguments, std::FILE* out);

}  // namespace lockstep::cuda
