// SPDX-License-Identifier: Apache-2.0
// Names and texts of CUDA's error codes, from errors.txt.
#pragma once

#include "workloads/cuda_api/state/abi.h"

namespace lockstep::cuda {

struct ErrorEntry {
    int code;
    const char* name;
    const char* text;
};

/// The row of a code, or nullptr.
const ErrorEntry* find_error(int code);

}  // namespace lockstep::cuda
