// SPDX-License-Identifier: Apache-2.0
// Names of what is built in: kernels for GPUs, networks for TPUs and systolic arrays.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::run {

/// Whether there is a network, or a GPU's workload, of that name.
bool is_network(std::string_view name);
bool is_gpu_workload(std::string_view name);

/// Whether the name is a kernel's and a network's, and the parameters behind it are the network's
/// and not all the kernel's: `name:key=value,...`.
bool needs_network(std::string_view what);

/// The name that is most like this one, or "".
std::string nearest_built_in(std::string_view name);

}  // namespace lockstep::run
