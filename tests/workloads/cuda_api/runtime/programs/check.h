// SPDX-License-Identifier: Apache-2.0
// Ends a test program with status 1 at the first thing that is not as expected.
#pragma once

#include <cstdio>
#include <cstdlib>

#define EXPECT(condition)                                                       \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                       \
        }                                                                       \
    } while (0)
#define OK(call) EXPECT((call) == cudaSuccess)
