// SPDX-License-Identifier: Apache-2.0
// Names of what is built in: kernels for GPUs, networks for TPUs and systolic arrays.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::cli {

/// Throws InputError where `text`, name[:key=value,...], names nothing that is built in, or what
/// runs on other machines only; the message says what would be right.
void check_built_in(std::string_view text, bool on_gpu);

/// Whether there is a network, or a GPU's workload, of that name.
bool is_network(std::string_view name);
bool is_gpu_workload(std::string_view name);

/// The name that is most like this one, or "".
std::string nearest_built_in(std::string_view name);

}  // namespace lockstep::cli
