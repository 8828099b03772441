// SPDX-License-Identifier: Apache-2.0
// Compiling PTX with the ptxas that is installed, as the driver does when a program has no SASS
// for its machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cubin {

/// The first ptxas in CUDA_PATH/bin, CUDA_HOME/bin, PATH, /usr/local/cuda/bin; empty if none.
std::string find_ptxas();

/// Compiles PTX to a cubin for `target` ("sm_90", "sm_90a"). Of `options`, which come from the
/// file, only those that change the code are passed on (-O, -fmad, -maxrregcount). Throws
/// InputError where there is no ptxas or it fails; the message holds what it said.
std::vector<uint8_t> compile_ptx(std::span<const uint8_t> ptx, std::string_view target,
                                 std::string_view options, std::string_view file_name);

}  // namespace lockstep::cubin
