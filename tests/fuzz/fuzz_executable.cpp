// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are taken for a host executable. Only InputError may come out.
#include "isa/cubin/executable.h"
#include "sim/error/error.h"
#include "workloads/cuda_api/loader/static_runtime.h"

using namespace lockstep;
using namespace lockstep::cubin;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::span<const uint8_t> bytes(data, size);
    identify(bytes);
    try {
        check_runnable(bytes, "x");
    } catch (const InputError&) {
    }
    try {
        cuda::examine(bytes, "x");
    } catch (const InputError&) {
    }
    try {
        find_fatbins(bytes, "x");
    } catch (const InputError&) {
    }
    return 0;
}
