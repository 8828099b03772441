// SPDX-License-Identifier: Apache-2.0
// Error codes, their names and texts.
#include "workloads/runtime/error_table.h"
#include "workloads/runtime/runtime.h"

namespace lockstep::cuda {

LOCKSTEP_CUDA Error cudaGetLastError() {
    const Error error = Runtime::get().take_error();
    Runtime::get().acknowledge(error);
    return error;
}

LOCKSTEP_CUDA Error cudaPeekAtLastError() {
    const Error error = Runtime::get().peek_error();
    Runtime::get().acknowledge(error);
    return error;
}

LOCKSTEP_CUDA const char* cudaGetErrorName(Error error) {
    Runtime::get().acknowledge(error);
    const ErrorEntry* entry = find_error(static_cast<int>(error));
    return entry ? entry->name : "unrecognized error code";
}

LOCKSTEP_CUDA const char* cudaGetErrorString(Error error) {
    Runtime::get().acknowledge(error);
    const ErrorEntry* entry = find_error(static_cast<int>(error));
    return entry ? entry->text : "unrecognized error code";
}

}  // namespace lockstep::cuda
