// SPDX-License-Identifier: Apache-2.0
// A static CUDA runtime for a program that is linked without nvcc: it has every function of one
// version, and none of them may ever run. The loader sends their calls to our library.
#include <cstdio>
#include <cstdlib>

#define LOCKSTEP_STUB(name)                                        \
    extern "C" __attribute__((visibility("hidden"))) void name() { \
        std::fputs(#name " of the static copy ran\n", stderr);     \
        std::abort();                                              \
    }
#define LOCKSTEP_SAME(name, base) LOCKSTEP_STUB(name)
#define LOCKSTEP_PER_THREAD(name, base) LOCKSTEP_STUB(name)

#include LOCKSTEP_STUBS
