// SPDX-License-Identifier: Apache-2.0
// The compiled kernels of this folder, embedded in the program.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep::cuda {

/// The cubin of kernels/NAME.cu, micro/NAME.cu or hopper/NAME.cu that runs on compute capability
/// `arch` (75 to 90), the newest of its major revision; empty: none.
std::span<const std::uint8_t> kernel_image(std::string_view name, int arch);

/// The compute capabilities that it is compiled for, in ascending order.
std::vector<int> kernel_archs(std::string_view name);

}  // namespace lockstep::cuda
