// SPDX-License-Identifier: Apache-2.0
// y[t] = table[ids[t]] for t < tokens, rows of `dim` floats; an id outside the vocabulary gives
// zeros and no gradient. One block for each token.

extern "C" __global__ void embedding(const int* ids, const float* table, float* y, int tokens,
                                     int vocabulary, int dim) {
    const int id = ids[blockIdx.x];
    const bool known = id >= 0 && id < vocabulary;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        y[(size_t)blockIdx.x * dim + i] = known ? table[(size_t)id * dim + i] : 0.0f;
    }
}

// dtable (cleared before) += dy of every token that used the row. Tokens may share a row: atomics.
extern "C" __global__ void embedding_backward(const int* ids, const float* dy, float* dtable,
                                              int tokens, int vocabulary, int dim) {
    const int id = ids[blockIdx.x];
    if (id < 0 || id >= vocabulary) return;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        atomicAdd(&dtable[(size_t)id * dim + i], dy[(size_t)blockIdx.x * dim + i]);
    }
}
