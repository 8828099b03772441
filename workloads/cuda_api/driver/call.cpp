// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {

Result result_of(Error error) {
    switch (error) {
        case Error::kInvalidConfiguration:
        case Error::kInvalidPitchValue:
        case Error::kInvalidMemcpyDirection:
        case Error::kMissingConfiguration:
            return Result::kInvalidValue;
        case Error::kInvalidSymbol:
            return Result::kNotFound;
        case Error::kInvalidDeviceFunction:
            return Result::kInvalidHandle;
        default:
            return static_cast<Result>(error);  // the codes are the same from here on
    }
}

Result check_context() {
    if (!is_initialized()) return Result::kNotInitialized;
    return current_context() ? Result::kSuccess : Result::kInvalidContext;
}

Result in_context(const std::function<Error(cuda::Context&)>& body, Waits waits) {
    const Result result = check_context();
    if (result != Result::kSuccess) return result;
    return result_of(cuda::Context::current().call(waits, body));
}

Result in_device(const std::function<Error(cuda::Context&)>& body) {
    if (!is_initialized()) return Result::kNotInitialized;
    return result_of(cuda::Context::current().call(Waits::kNo, body));
}

bool has_device(int device) {
    return in_device([&](cuda::Context& context) {
               return context.has_device(device) ? Error::kSuccess : Error::kInvalidDevice;
           }) == Result::kSuccess;
}

}  // namespace lockstep::cuda::driver
