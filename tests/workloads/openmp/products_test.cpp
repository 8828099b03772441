// SPDX-License-Identifier: Apache-2.0
// Each way gives the naive sums, of sizes that no block divides; times are not looked at.
#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/openmp/timing.h"

namespace lockstep::openmp {
namespace {

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Products, AllWaysGiveTheSameMatrix) {
    EXPECT_EQ(lines_of(table_of(MatrixProduct{37, 261, 131}, 1)), 4u);
    EXPECT_EQ(lines_of(table_of(MatrixProduct{1, 1, 1}, 1)), 4u);
}

TEST(Products, AllWaysGiveTheSameImages) {
    EXPECT_EQ(lines_of(table_of(Convolution{2, 9, 7, 3, 5, 3, 3}, 1)), 4u);
    EXPECT_EQ(lines_of(table_of(Convolution{1, 2, 3, 2, 1, 5, 1}, 1)), 4u);
}

// The table compares the ways with each other; the naive one with sums by hand here.
TEST(Products, TheNaiveWayIsTheTextbooks) {
    std::vector<float> c(4), y(9);
    run(MatrixProduct{2, 2, 3}, Way::kNaive, {1, 2, 3, 4, 5, 6}, {1, 0, 0, 1, 2, 2}, c);
    EXPECT_EQ(c, (std::vector<float>{7, 8, 16, 17}));
    run(Convolution{1, 3, 3, 1, 1, 3, 3}, Way::kNaive, std::vector<float>(9, 1),
        std::vector<float>(9, 1), y);
    EXPECT_EQ(y, (std::vector<float>{4, 6, 4, 6, 9, 6, 4, 6, 4}));
}

}  // namespace
}  // namespace lockstep::openmp
