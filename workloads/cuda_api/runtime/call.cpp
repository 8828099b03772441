// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/runtime/call.h"

namespace lockstep::cuda {
namespace {

thread_local Error last_error = Error::kSuccess;

}  // namespace

Error call(Waits waits, const std::function<Error(Context&)>& body) {
    Context::bind_to_thread(true);
    const Error result = Context::current().call(waits, body);
    if (result != Error::kSuccess && result != Error::kNotReady) last_error = result;
    return result;
}

Error peek_error() {
    const Error sticky = Context::current().sticky_error();
    return sticky != Error::kSuccess ? sticky : last_error;
}

void forget_error() {
    last_error = Error::kSuccess;
}

void not_implemented(const char* function) {
    const std::string_view name = function;
    const auto is_about = [&](std::string_view word) { return name.find(word) != name.npos; };
    const bool of_textures = is_about("Texture") || is_about("Surface") || is_about("Array");
    end_process(
        ExitStatus::kProgramFault,
        fmt::format("the CUDA runtime function {} is not implemented{}", name,
                    of_textures ? ": textures, surfaces and CUDA arrays are not modelled" : ""));
}

}  // namespace lockstep::cuda
