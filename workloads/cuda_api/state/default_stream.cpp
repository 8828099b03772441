// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/state/default_stream.h"

#include <vector>

namespace lockstep::cuda {
namespace {

/// Where the functions return to that the thread is in; a function of the program's that one of
/// them calls may call another.
thread_local std::vector<void*> returns;

}  // namespace

bool null_is_per_thread() {
    return !returns.empty();
}

}  // namespace lockstep::cuda

void lockstep_enter_per_thread(void* return_address) {
    lockstep::cuda::returns.push_back(return_address);
}

void* lockstep_leave_per_thread() {
    void* const address = lockstep::cuda::returns.back();
    lockstep::cuda::returns.pop_back();
    return address;
}
