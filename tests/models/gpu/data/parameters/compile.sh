#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes cubin/*.cubin.xz of parameters.cu with nvcc 13.0: optimised, and as ptxas -O0 leaves it.
set -eu
cd "$(dirname "$0")"
mkdir -p cubin
for sm in 75 80 86 87 88 89 90; do
    for level in 0 3; do
        nvcc -arch=sm_$sm -std=c++17 -Xptxas -O$level -cubin -o cubin/O$level.sm_$sm.cubin \
            parameters.cu
    done
done
xz -9e -f cubin/*.cubin
