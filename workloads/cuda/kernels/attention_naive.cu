// SPDX-License-Identifier: Apache-2.0
// Attention over q, k, v [heads][seq][d] step by step, with the scores in memory: here scores =
// q * k^T * scale (causal: later keys get a score that softmax makes 0), then `softmax` over their
// rows, then values = p * v. Block: 16x16, one thread for each element; grid: (ceil(cols/16),
// ceil(seq/16), heads).

extern "C" __global__ void attention_scores(const float* q, const float* k, float* scores,
                                            int heads, int seq, int d, int causal, float scale) {
    const int key = blockIdx.x * 16 + threadIdx.x, query = blockIdx.y * 16 + threadIdx.y;
    if (key >= seq || query >= seq) return;
    const size_t head = blockIdx.z;
    float sum = 0.0f;
    for (int i = 0; i < d; ++i) {
        sum += q[(head * seq + query) * d + i] * k[(head * seq + key) * d + i];
    }
    scores[(head * seq + query) * seq + key] = causal && key > query ? -1e30f : sum * scale;
}

extern "C" __global__ void attention_values(const float* p, const float* v, float* out, int heads,
                                            int seq, int d) {
    const int i = blockIdx.x * 16 + threadIdx.x, query = blockIdx.y * 16 + threadIdx.y;
    if (i >= d || query >= seq) return;
    const size_t head = blockIdx.z;
    float sum = 0.0f;
    for (int key = 0; key < seq; ++key) {
        sum += p[(head * seq + query) * seq + key] * v[(head * seq + key) * d + i];
    }
    out[(head * seq + query) * d + i] = sum;
}
