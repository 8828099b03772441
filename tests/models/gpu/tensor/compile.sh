#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the cubins of kernels.cu: nvcc of CUDA 13 for sm_75 and later, ptxas of CUDA 11.8 for sm_70.
set -eu
cd "$(dirname "$0")"
mkdir -p cubin
for sm in 75 80 89 90; do
    nvcc -arch=sm_$sm -std=c++17 -cubin -o cubin/kernels.sm_$sm.cubin kernels.cu
done
nvcc -arch=compute_75 -std=c++17 -DONLY_VOLTA -ptx -o cubin/volta.ptx kernels.cu
sed -i 's/^\.version.*/.version 7.8/; s/^\.target.*/.target sm_70/' cubin/volta.ptx
"${PTXAS_11_8:-ptxas}" -arch=sm_70 -o cubin/kernels.sm_70.cubin cubin/volta.ptx
rm cubin/volta.ptx
xz -9 -f cubin/*.cubin
