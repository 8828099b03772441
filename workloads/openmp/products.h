// SPDX-License-Identifier: Apache-2.0
// A matrix product and a convolution on the host, as a course writes them: naive, on one core with
// its caches and vector lanes in mind, and that on all cores by OpenMP.
#pragma once

#include <string_view>
#include <vector>

namespace lockstep::openmp {

enum class Way { kNaive, kOneCore, kAllCores };
std::string_view name_of(Way way);

/// C[m,n] = A[m,k] B[k,n], row-major.
struct MatrixProduct {
    int m = 0, n = 0, k = 0;
    double operations() const { return 2.0 * m * n * k; }
};
void run(const MatrixProduct& p, Way way, const std::vector<float>& a, const std::vector<float>& b,
         std::vector<float>& c);

/// y[n,k,h,w] of x[n,c,h,w] and w[k,c,r,s], stride 1, zeros around so that the size stays.
struct Convolution {
    int n = 0, h = 0, w = 0, c = 0, k = 0, r = 0, s = 0;
    double operations() const { return 2.0 * n * h * w * c * k * r * s; }
};
void run(const Convolution& p, Way way, const std::vector<float>& x,
         const std::vector<float>& weights, std::vector<float>& y);

}  // namespace lockstep::openmp
