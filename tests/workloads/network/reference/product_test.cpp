// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/reference/product.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace lockstep::network::reference {
namespace {

TEST(ReferenceProduct, HasTheSameBitsWhereverItsOperandsLie) {
    constexpr Eigen::Index kOffsets = 17;  // more than a packet
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (const auto& [m, n, k] : {std::array<Eigen::Index, 3>{3, 9, 5},
                                  {1, 40, 9},
                                  {1, 1, 50},
                                  {1, 70, 30},
                                  {70, 1, 30},
                                  {33, 47, 65},
                                  {8, 8, 3},
                                  {2, 500, 3}}) {
        const RowMajor<float> a = RowMajor<float>::NullaryExpr(m, k,
                                                               [&] { return uniform(random); }),
                              b = RowMajor<float>::NullaryExpr(k, n,
                                                               [&] { return uniform(random); });
        std::vector<float> left(a.size() + kOffsets), right(b.size() + kOffsets), first(m * n),
            room(m * n + kOffsets);
        for (Eigen::Index i = 0; i < kOffsets; ++i) {
            Eigen::Map<RowMajor<float>>(left.data() + i, m, k) = a;
            Eigen::Map<RowMajor<float>>(right.data() + kOffsets - i, k, n) = b;
            const View<float> x(left.data() + i, m, k), y(right.data() + kOffsets - i, k, n);
            float* const out = room.data() + i * 7 % kOffsets;
            multiply<float>(Target<float>(out, m, n), x, y);
            if (i == 0) {
                first.assign(out, out + m * n);
                EXPECT_TRUE(Target<float>(out, m, n).isApprox(a * b, 1e-5f));
            }
            EXPECT_EQ(std::memcmp(out, first.data(), first.size() * sizeof(float)), 0)
                << m << " x " << n << " x " << k << " at " << i;
        }
    }
}

}  // namespace
}  // namespace lockstep::network::reference
