// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lockstep::cuda {

/// A kernel of workloads/cuda/kernels.
struct KernelName {
    std::string_view file;  ///< without .cu
    std::string_view kernel;
};

}  // namespace lockstep::cuda
