// SPDX-License-Identifier: Apache-2.0
// The naive ways are the sums as they stand in a textbook, in the order of its indices. On one core
// loops are turned so that the innermost runs along memory (the compiler vectorises it), and cut so
// that what is read again is still in the L1 or L2 cache. All cores share the outermost loop.
#include "workloads/openmp/products.h"

#include <omp.h>

#include <algorithm>

namespace lockstep::openmp {

namespace {

constexpr int kRows = 4;     ///< of C at a time: each row of B that is read serves them all
constexpr int kDepth = 128;  ///< of B at a time, with kColumns columns: 128 KiB

constexpr int kColumns = 256;

void naive(const MatrixProduct& p, const float* a, const float* b, float* c) {
    for (int i = 0; i < p.m; ++i)
        for (int j = 0; j < p.n; ++j) {
            float sum = 0;
            for (int l = 0; l < p.k; ++l) sum += a[i * p.k + l] * b[l * p.n + j];
            c[i * p.n + j] = sum;
        }
}

/// Adds to rows [i, i + rows) the products of [l0, l1), for columns [j0, j1).
void add_block(const MatrixProduct& p, const float* a, const float* b, float* c, int i, int rows,
               int l0, int l1, int j0, int j1) {
    for (int l = l0; l < l1; ++l)
        for (int row = i; row < i + rows; ++row) {
            const float factor = a[row * p.k + l];
            const float* const from = b + l * p.n;
            float* const to = c + row * p.n;
#pragma omp simd
            for (int j = j0; j < j1; ++j) to[j] += factor * from[j];
        }
}

/// Rows [i, i + rows) of C.
void product_rows(const MatrixProduct& p, const float* a, const float* b, float* c, int i,
                  int rows) {
    std::fill_n(c + i * p.n, rows * p.n, 0.0f);
    for (int l = 0; l < p.k; l += kDepth)
        for (int j = 0; j < p.n; j += kColumns)
            add_block(p, a, b, c, i, rows, l, std::min(l + kDepth, p.k), j,
                      std::min(j + kColumns, p.n));
}

void naive(const Convolution& p, const float* x, const float* weights, float* y) {
    for (int n = 0; n < p.n; ++n)
        for (int k = 0; k < p.k; ++k)
            for (int h = 0; h < p.h; ++h)
                for (int w = 0; w < p.w; ++w) {
                    float sum = 0;
                    for (int c = 0; c < p.c; ++c)
                        for (int r = 0; r < p.r; ++r)
                            for (int s = 0; s < p.s; ++s) {
                                const int row = h + r - p.r / 2, column = w + s - p.s / 2;
                                if (row < 0 || row >= p.h || column < 0 || column >= p.w) continue;
                                sum += x[((n * p.c + c) * p.h + row) * p.w + column] *
                                       weights[((k * p.c + c) * p.r + r) * p.s + s];
                            }
                    y[((n * p.k + k) * p.h + h) * p.w + w] = sum;
                }
}

/// One channel of one image's result: each weight goes along the rows of its input channel.
void plane(const Convolution& p, const float* x, const float* weights, float* y, int n, int k) {
    float* const to = y + (n * p.k + k) * p.h * p.w;
    std::fill_n(to, p.h * p.w, 0.0f);
    for (int c = 0; c < p.c; ++c)
        for (int r = 0; r < p.r; ++r)
            for (int s = 0; s < p.s; ++s) {
                const float factor = weights[((k * p.c + c) * p.r + r) * p.s + s];
                const int dh = r - p.r / 2, dw = s - p.s / 2;
                const int w0 = std::max(0, -dw), w1 = std::min(p.w, p.w - dw);
                for (int h = std::max(0, -dh); h < std::min(p.h, p.h - dh); ++h) {
                    const float* const from = x + ((n * p.c + c) * p.h + h + dh) * p.w + dw;
                    float* const row = to + h * p.w;
#pragma omp simd
                    for (int w = w0; w < w1; ++w) row[w] += factor * from[w];
                }
            }
}

int threads_of(Way way) {
    return way == Way::kAllCores ? omp_get_num_procs() : 1;
}

}  // namespace

std::string_view name_of(Way way) {
    return way == Way::kNaive ? "naive" : way == Way::kOneCore ? "one core" : "all cores";
}

void run(const MatrixProduct& p, Way way, const std::vector<float>& a, const std::vector<float>& b,
         std::vector<float>& c) {
    if (way == Way::kNaive) return naive(p, a.data(), b.data(), c.data());
#pragma omp parallel for num_threads(threads_of(way)) schedule(static)
    for (int i = 0; i < p.m; i += kRows)
        product_rows(p, a.data(), b.data(), c.data(), i, std::min(kRows, p.m - i));
}

void run(const Convolution& p, Way way, const std::vector<float>& x,
         const std::vector<float>& weights, std::vector<float>& y) {
    if (way == Way::kNaive) return naive(p, x.data(), weights.data(), y.data());
#pragma omp parallel for collapse(2) num_threads(threads_of(way)) schedule(static)
    for (int n = 0; n < p.n; ++n)
        for (int k = 0; k < p.k; ++k) plane(p, x.data(), weights.data(), y.data(), n, k);
}

}  // namespace lockstep::openmp
