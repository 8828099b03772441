// SPDX-License-Identifier: Apache-2.0
// The compiled kernels of workloads/cuda/kernels, embedded in the program.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::cuda {

/// The cubin of kernels/NAME.cu or micro/NAME.cu that runs on compute capability `arch` (75 to 90),
/// the newest of its major revision; empty: none.
std::span<const std::uint8_t> kernel_image(std::string_view name, int arch);

}  // namespace lockstep::cuda
