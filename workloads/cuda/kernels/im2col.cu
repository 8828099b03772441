// SPDX-License-Identifier: Apache-2.0
// The patches of x[n][c][h][w] as columns: col[n][c*r*s][oh*ow]; then a convolution is, for each
// image, the product of the weights [k][c*r*s] with its columns. oh = (h + 2*pad - r) / stride + 1,
// ow likewise. Any grid.

extern "C" __global__ void im2col(const float* x, float* col, int n, int c, int h, int w, int r,
                                  int s, int oh, int ow, int stride, int pad) {
    const int total = n * c * r * s * oh * ow;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int ox = i % ow, oy = i / ow % oh;
        const int tap = i / (ow * oh) % (r * s), plane = i / (ow * oh * r * s);
        const int y = oy * stride + tap / s - pad, z = ox * stride + tap % s - pad;
        const bool inside = y >= 0 && y < h && z >= 0 && z < w;
        col[i] = inside ? x[(plane * h + y) * w + z] : 0.0f;
    }
}
