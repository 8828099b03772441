// SPDX-License-Identifier: Apache-2.0
// Names and texts of error codes. The texts are those of the runtime's codes of the same number.
#include <algorithm>
#include <iterator>

#include "workloads/cuda_api/driver/call.h"
#include "workloads/cuda_api/runtime/error_table.h"

namespace lockstep::cuda::driver {
namespace {

struct ErrorName {
    int code;
    const char* name;
};
constexpr ErrorName kNames[] = {
#include "workloads/cuda_api/driver/errors.inc"
};

/// The program has seen the error, whatever it does about it.
const char* name_of(Result result) {
    cuda::Context::current().acknowledge(static_cast<Error>(result));
    const auto* const row = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& r) {
        return r.code == static_cast<int>(result);
    });
    return row != std::end(kNames) ? row->name : nullptr;
}

Result give(const char** place, const char* text) {
    if (!place) return Result::kInvalidValue;
    *place = text;
    return text ? Result::kSuccess : Result::kInvalidValue;
}

}  // namespace

LOCKSTEP_DRIVER(cuGetErrorName, (Result result, const char** name)) {
    return give(name, name_of(result));
}
LOCKSTEP_DRIVER(cuGetErrorString, (Result result, const char** text)) {
    const ErrorEntry* const entry = find_error(static_cast<int>(result));
    return give(text, !name_of(result) ? nullptr : entry ? entry->text : "unknown error");
}

}  // namespace lockstep::cuda::driver
