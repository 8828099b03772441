// SPDX-License-Identifier: Apache-2.0
// Fronts and indices against functions whose answers are known.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/numerics/random.h"
#include "workloads/sweep/pareto.h"
#include "workloads/sweep/sensitivity.h"

namespace lockstep::sweep {
namespace {

TEST(Pareto, KeepsWhatNoOtherBeats) {
    const std::vector<std::vector<double>> costs = {{1, 5}, {2, 4},   {2, 5}, {3, 1},
                                                    {3, 1}, {4, 0.5}, {4, 4}};
    const std::vector<bool> front = pareto_front(costs);
    EXPECT_EQ(front, (std::vector<bool>{true, true, false, true, true, true, false}));
}

TEST(Pareto, AgreesWithComparingAllPairs) {
    numerics::Random random(7);
    std::vector<std::vector<double>> costs;
    for (int i = 0; i < 400; ++i)
        costs.push_back({static_cast<double>(random.integer(0, 20)),
                         static_cast<double>(random.integer(0, 20)),
                         static_cast<double>(random.integer(0, 20))});
    const std::vector<bool> front = pareto_front(costs);
    for (std::size_t i = 0; i < costs.size(); ++i) {
        bool is_dominated = false;
        for (const auto& other : costs) is_dominated |= dominates(other, costs[i]);
        EXPECT_EQ(front[i], !is_dominated);
    }
}

/// y = x0 + 2 x1 + x1 x2 on {-1, 1}^3 or {0, 1, 2}: variances by hand.
std::vector<Observation> grid() {
    std::vector<Observation> list;
    for (const double a : {-1.0, 1.0})
        for (const double b : {-1.0, 1.0})
            for (const double c : {-1.0, 1.0}) list.push_back({{a, b, c}, 1e6 + a + 2 * b + b * c});
    return list;
}

TEST(Sensitivity, IsExactOnAFullGrid) {
    // Variances: x0 1, x1 4, x1 x2 1: all 6.
    const auto indices = grid_indices(grid(), 3);
    EXPECT_NEAR(*indices[0].first, 1.0 / 6, 1e-9);
    EXPECT_NEAR(*indices[1].first, 4.0 / 6, 1e-9);
    EXPECT_NEAR(*indices[2].first, 0, 1e-9);
    EXPECT_NEAR(*indices[0].total, 1.0 / 6, 1e-9);
    EXPECT_NEAR(*indices[1].total, 5.0 / 6, 1e-9);
    EXPECT_NEAR(*indices[2].total, 1.0 / 6, 1e-9);
}

TEST(Sensitivity, SaysNothingOfTotalsOnAGridWithHoles) {
    auto some = grid();
    some.pop_back();
    const auto indices = grid_indices(some, 3);
    EXPECT_TRUE(indices[1].first.has_value());
    EXPECT_FALSE(indices[1].total.has_value());
}

/// The Ishigami function with a = 7, b = 0.1: S = 0.3139, 0.4424, 0; T = 0.5576, 0.4424, 0.2437
/// (Ishigami and Homma 1990).
double ishigami(double u0, double u1, double u2) {
    const auto x = [](double u) { return M_PI * (2 * u - 1); };
    const double s = std::sin(x(u1));
    return std::sin(x(u0)) * (1 + 0.1 * std::pow(x(u2), 4)) + 7 * s * s;
}

double unit(numerics::Random& random) {
    return static_cast<double>(random.bits() >> 11) * 0x1p-53;
}

TEST(Sensitivity, FindsIshigamisIndicesFromSaltellisDesign) {
    constexpr std::size_t kSamples = 20'000;
    numerics::Random random(3);
    std::vector<std::array<double, 3>> a(kSamples), b(kSamples);
    for (auto* matrix : {&a, &b})
        for (auto& row : *matrix)
            for (double& u : row) u = unit(random);
    std::vector<double> values;
    for (const auto* matrix : {&a, &b})
        for (const auto& row : *matrix) values.push_back(ishigami(row[0], row[1], row[2]));
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (std::size_t i = 0; i < kSamples; ++i) {
            auto row = a[i];
            row[axis] = b[i][axis];
            values.push_back(ishigami(row[0], row[1], row[2]));
        }
    const auto indices = sobol_indices(values, kSamples, 3);
    const double first[] = {0.3139, 0.4424, 0}, total[] = {0.5576, 0.4424, 0.2437};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        EXPECT_NEAR(*indices[axis].first, first[axis], 4 * indices[axis].first_error);
        EXPECT_NEAR(*indices[axis].total, total[axis], 4 * indices[axis].total_error);
        EXPECT_LT(indices[axis].first_error, 0.03);
    }
}

TEST(Sensitivity, FindsFirstOrderIndicesFromPlainSamples) {
    numerics::Random random(5);
    std::vector<Observation> list;
    for (int i = 0; i < 4000; ++i) {
        const double u[] = {unit(random), unit(random), unit(random)};
        list.push_back({{u[0], u[1], u[2]}, ishigami(u[0], u[1], u[2])});
    }
    const auto indices = sample_indices(list, 3);
    EXPECT_NEAR(*indices[0].first, 0.3139, 0.05);
    EXPECT_NEAR(*indices[1].first, 0.4424, 0.05);
    EXPECT_NEAR(*indices[2].first, 0, 0.02);
}

TEST(Sensitivity, SaysNothingWhereNothingChanges) {
    std::vector<Observation> list = grid();
    for (Observation& o : list) o.value = 5;
    EXPECT_FALSE(grid_indices(list, 3)[0].first.has_value());
}

}  // namespace
}  // namespace lockstep::sweep
