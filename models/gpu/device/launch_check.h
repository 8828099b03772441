// SPDX-License-Identifier: Apache-2.0
// What a launch may not ask for.
#pragma once

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {

/// Throws LaunchRefused where the machine cannot run the launch.
void check_launch(const config::Machine& machine, const cubin::Function& kernel,
                  const LaunchRequest& request);

/// Whether the CTAs are members of clusters, be they of one CTA.
bool is_clustered(const cubin::Function& kernel, const LaunchRequest& request);

}  // namespace lockstep::gpu
