// SPDX-License-Identifier: Apache-2.0
// The pattern of every driver function. What the runtime API has too is done by its function.
#pragma once

#include "workloads/cuda_api/driver/abi.h"
#include "workloads/cuda_api/runtime/functions.h"
#include "workloads/cuda_api/state/context.h"

namespace lockstep::cuda::driver {

/// The driver's code for an error of the runtime.
Result result_of(Error error);

/// cuInit has been called.
bool is_initialized();

/// The calling thread's current context; nullptr where it has none. A call of the runtime API makes
/// the primary context current in a thread that has none.
ContextHandle* current_context();

/// kSuccess where a function that needs a context may run.
Result check_context();

/// A function that needs a context: its body gives an Error of the runtime.
template <class Body>
Result call(Body body) {
    const Result result = check_context();
    if (result != Result::kSuccess) return result;
    const bool bound = cuda::Context::is_bound_to_thread();
    const Error error = body();
    cuda::Context::bind_to_thread(bound);  // by the program's own calls of the runtime alone
    return result_of(error);
}

/// The body works on the context's state, under its lock.
Result in_context(const std::function<Error(cuda::Context&)>& body, Waits waits = Waits::kNo);

/// The same for functions that need initialisation but no context.
Result in_device(const std::function<Error(cuda::Context&)>& body);

bool has_device(int device);

template <class T>
Error store(T* place, auto value) {
    if (!place) return Error::kInvalidValue;
    *place = static_cast<T>(value);
    return Error::kSuccess;
}

inline void* host_pointer(Pointer pointer) {
    return reinterpret_cast<void*>(pointer);
}

}  // namespace lockstep::cuda::driver
