// SPDX-License-Identifier: Apache-2.0
// Everything the library exports has a weak definition here that names itself and ends the program;
// what is implemented elsewhere replaces it. LOCKSTEP_STUBS is the list of one CUDA version.
#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/state/default_stream.h"

#define LOCKSTEP_STUB(name)                                               \
    extern "C" __attribute__((weak, visibility("default"))) void name() { \
        lockstep::cuda::not_implemented(#name);                           \
    }
#define LOCKSTEP_SAME(name, base)                                             \
    asm(".globl " #name "\n.type " #name ", @function\n" #name ": jmp " #base \
        "@PLT\n"                                                              \
        ".size " #name ", . - " #name "\n");

#include LOCKSTEP_STUBS
