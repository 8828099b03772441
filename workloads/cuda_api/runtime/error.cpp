// SPDX-License-Identifier: Apache-2.0
// Error codes, their names and texts.
#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/runtime/error_table.h"

namespace lockstep::cuda {

LOCKSTEP_CUDA Error cudaGetLastError() {
    const Error error = peek_error();
    forget_error();
    Context::current().acknowledge(error);
    return error;
}

LOCKSTEP_CUDA Error cudaPeekAtLastError() {
    const Error error = peek_error();
    Context::current().acknowledge(error);
    return error;
}

LOCKSTEP_CUDA const char* cudaGetErrorName(Error error) {
    Context::current().acknowledge(error);
    const ErrorEntry* entry = find_error(static_cast<int>(error));
    return entry ? entry->name : "unrecognized error code";
}

LOCKSTEP_CUDA const char* cudaGetErrorString(Error error) {
    Context::current().acknowledge(error);
    const ErrorEntry* entry = find_error(static_cast<int>(error));
    return entry ? entry->text : "unrecognized error code";
}

}  // namespace lockstep::cuda
