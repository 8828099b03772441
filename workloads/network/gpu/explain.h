// SPDX-License-Identifier: Apache-2.0
// How a network was compiled, for a person.
#pragma once

#include <string>

#include "workloads/network/gpu/executable.h"

namespace lockstep::network::gpu {

/// "conv1+relu1: product_fp32_small": a layer may have several launches.
std::string name_of(const Launch& launch);

/// What --schedule prints: each launch with grid, work, and why this kernel; then memory.
std::string schedule_text(const Executable& code);

/// What launches beside each other could save at most, by the model's times: `code` must be
/// compiled for that (Options::beside).
std::string branches_text(const Executable& code);

}  // namespace lockstep::network::gpu
