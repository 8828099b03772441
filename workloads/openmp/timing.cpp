// SPDX-License-Identifier: Apache-2.0
#include "workloads/openmp/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <stdexcept>

namespace lockstep::openmp {

namespace {

std::vector<float> random_values(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<float> made(count);
    std::ranges::generate(made, [&] { return values(generator); });
    return made;
}

/// Sums of `depth` products in another order differ by some roundings each.
void compare(const std::vector<float>& got, const std::vector<float>& wanted, int depth, Way way) {
    const float allowed = 1e-6f * static_cast<float>(depth);
    for (std::size_t i = 0; i < got.size(); ++i)
        if (!(std::abs(got[i] - wanted[i]) <= allowed))
            throw std::runtime_error(
                fmt::format("{}: result {} is {}, not {}", name_of(way), i, got[i], wanted[i]));
}

template <class P>
std::string table(const P& p, int repeats, int depth, const std::vector<float>& a,
                  const std::vector<float>& b, std::size_t results) {
    std::string text = fmt::format("{:<10} {:>10} {:>9} {:>7}\n", "way", "ms", "GFLOP/s", "times");
    std::vector<float> wanted(results);
    double naive = 0;
    for (const Way way : {Way::kNaive, Way::kOneCore, Way::kAllCores}) {
        std::vector<float> got(results);
        double best = 0;
        for (int i = 0; i < repeats; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            run(p, way, a, b, got);
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            if (i == 0 || took.count() < best) best = took.count();
        }
        if (way == Way::kNaive) {
            wanted = got;
            naive = best;
        }
        compare(got, wanted, depth, way);
        text += fmt::format("{:<10} {:>10.2f} {:>9.2f} {:>7.1f}\n", name_of(way), 1e3 * best,
                            1e-9 * p.operations() / best, naive / best);
    }
    return text;
}

std::size_t product(std::initializer_list<int> sizes) {
    std::size_t all = 1;
    for (const int size : sizes) all *= static_cast<std::size_t>(size);
    return all;
}

}  // namespace

std::string table_of(const MatrixProduct& p, int repeats) {
    return table(p, repeats, p.k, random_values(product({p.m, p.k}), 1),
                 random_values(product({p.k, p.n}), 2), product({p.m, p.n}));
}

std::string table_of(const Convolution& p, int repeats) {
    return table(p, repeats, p.c * p.r * p.s, random_values(product({p.n, p.c, p.h, p.w}), 1),
                 random_values(product({p.k, p.c, p.r, p.s}), 2), product({p.n, p.k, p.h, p.w}));
}

}  // namespace lockstep::openmp
