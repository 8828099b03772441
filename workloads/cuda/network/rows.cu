// SPDX-License-Identifier: Apache-2.0
// Softmax (and its logarithm) and normalisation to mean 0 and variance 1 along rows of any strides.
// One block of whole warps for each row.
#include "rows.cuh"

using namespace lockstep::kernels;

extern "C" __global__ void __launch_bounds__(256) softmax_rows(const Rows p) {
    __shared__ float scratch[32];
    int index[kRowDims];
    row_index(blockIdx.x, p.kept, index);
    const int in = row_offset(index, p.in.kept), out = row_offset(index, p.out.kept);
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < p.extent; i += blockDim.x)
        largest = fmaxf(largest, element(p.in, in + i * p.in.along));
    largest = block_reduce(largest, Max(), scratch);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < p.extent; i += blockDim.x)
        sum += expf(element(p.in, in + i * p.in.along) - largest);
    sum = block_reduce(sum, Sum(), scratch);
    const float logarithm = logf(sum);
    for (int i = threadIdx.x; i < p.extent; i += blockDim.x) {
        const float x = element(p.in, in + i * p.in.along) - largest;
        put_element(p.out, out + i * p.out.along, p.logarithm ? x - logarithm : expf(x) / sum);
    }
}

extern "C" __global__ void __launch_bounds__(256) normalise_rows(const Rows p) {
    __shared__ float scratch[32];
    int index[kRowDims];
    row_index(blockIdx.x, p.kept, index);
    const int in = row_offset(index, p.in.kept), out = row_offset(index, p.out.kept);
    const int scale = row_offset(index, p.scale.kept), shift = row_offset(index, p.shift.kept);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < p.extent; i += blockDim.x)
        sum += element(p.in, in + i * p.in.along);
    const float mean = block_reduce(sum, Sum(), scratch) / static_cast<float>(p.extent);
    float squares = 0.0f;
    for (int i = threadIdx.x; i < p.extent; i += blockDim.x) {
        const float d = element(p.in, in + i * p.in.along) - mean;
        squares += d * d;
    }
    squares = block_reduce(squares, Sum(), scratch) / static_cast<float>(p.extent);
    const float factor = 1.0f / sqrtf(squares + p.epsilon);
    for (int i = threadIdx.x; i < p.extent; i += blockDim.x) {
        float v = (element(p.in, in + i * p.in.along) - mean) * factor;
        if (p.scale.data != nullptr) v *= element(p.scale, scale + i * p.scale.along);
        if (p.shift.data != nullptr) v += element(p.shift, shift + i * p.shift.along);
        put_element(p.out, out + i * p.out.along, v);
    }
}
