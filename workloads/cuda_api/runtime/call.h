// SPDX-License-Identifier: Apache-2.0
// The pattern of every exported function of the runtime library, and the last error of each thread.
#pragma once

#include <functional>

#include "workloads/cuda_api/state/context.h"

namespace lockstep::cuda {

/// Runs the body of one call in the current context. Each thread remembers the last error that a
/// call returned until it asks.
Error call(Waits waits, const std::function<Error(Context&)>& body);

inline Error call(const std::function<Error(Context&)>& body) {
    return call(Waits::kNo, body);
}
inline Error call_and_wait(const std::function<Error(Context&)>& body) {
    return call(Waits::kYes, body);
}

/// A kernel's fault, or what the last call of this thread that failed returned.
Error peek_error();
/// Makes this thread forget the last error.
void forget_error();

/// A function that is exported but not implemented was called.
[[noreturn]] void not_implemented(const char* function);

}  // namespace lockstep::cuda
