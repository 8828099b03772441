#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the binary test data from the .cu files beside it. The tests do not need it; it was last run
# with nvcc 13.0.88 and, as OLD_PTXAS, with ptxas of CUDA 11.8 (Debian: nvidia-cuda-toolkit).
set -eu
cd "$(dirname "$0")"
OLD_PTXAS=${OLD_PTXAS:-ptxas-11.8}

for arch in 75 80 90; do nvcc -arch=sm_$arch -cubin -o zoo_sm$arch.cubin zoo.cu; done
# CUDA 11.8 reads the same PTX once it is labelled with a version that it knows.
nvcc -arch=compute_75 -ptx -o - zoo.cu | sed 's/^.version .*/.version 7.8/; s/sm_75/sm_70/' > zoo.ptx
$OLD_PTXAS -arch=sm_70 -o zoo_sm70_cuda11.cubin zoo.ptx
$OLD_PTXAS -c -arch=sm_70 -o zoo_sm70_cuda11_object.cubin zoo.ptx
rm zoo.ptx

for arch in 80 90; do
    for part in caller callee; do
        nvcc -arch=sm_$arch -rdc=true -cubin -o ${part}_sm${arch}_object.cubin $part.cu
    done
    nvlink -arch=sm_$arch -o linked_sm$arch.cubin caller_sm${arch}_object.cubin \
        callee_sm${arch}_object.cubin
done
rm callee_sm80_object.cubin

nvcc -arch=sm_90 -cubin -o tiny_sm90.cubin tiny.cu
nvcc -arch=sm_90 -cubin -o launch_sm90.cubin launch.cu
nvcc -arch=sm_75 -G -cubin -o debug_sm75.cubin debug.cu
for mode in none speed size; do
    nvcc -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 \
        -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_80,code=compute_80 \
        -Xptxas -O2 -compress-mode=$mode -fatbin -o tiny_$mode.fatbin tiny.cu
done

# A fatbin of CUDA 11.8, which packs cubins with LZ4 too. OLD_PTXAS has fatbinary beside it.
nvcc -arch=compute_75 -ptx -o - tiny.cu | sed 's/^.version .*/.version 7.8/; s/sm_75/sm_70/' > tiny.ptx
for arch in 70 80; do $OLD_PTXAS -arch=sm_$arch -o tiny_$arch.cubin tiny.ptx; done
"$(dirname "$OLD_PTXAS")"/fatbinary --create=tiny_cuda11.fatbin -64 --compress-all \
    --image3=kind=elf,sm=70,file=tiny_70.cubin --image3=kind=elf,sm=80,file=tiny_80.cubin \
    --image3=kind=ptx,sm=70,file=tiny.ptx
rm tiny.ptx tiny_70.cubin tiny_80.cubin
