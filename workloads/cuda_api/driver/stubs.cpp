// SPDX-License-Identifier: Apache-2.0
// Everything the driver exports has a weak definition here that names itself and ends the program;
// what is implemented elsewhere replaces it.
#include <fmt/format.h>

#include "workloads/cuda_api/state/context.h"
#include "workloads/cuda_api/state/default_stream.h"

namespace {

[[noreturn]] void not_implemented(std::string_view name) {
    const auto is_about = [&](std::string_view word) { return name.find(word) != name.npos; };
    const bool of_textures = is_about("Tex") || is_about("Surf") || is_about("Array");
    lockstep::cuda::end_process(
        lockstep::ExitStatus::kProgramFault,
        fmt::format("the CUDA driver function {} is not implemented{}", name,
                    of_textures ? ": textures, surfaces and CUDA arrays are not modelled" : ""));
}

}  // namespace

#define LOCKSTEP_STUB(name)                                               \
    extern "C" __attribute__((weak, visibility("default"))) void name() { \
        not_implemented(#name);                                           \
    }
#include "workloads/cuda_api/driver/stubs.inc"
