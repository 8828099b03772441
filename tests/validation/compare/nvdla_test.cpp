// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "validation/compare/suites.h"

namespace lockstep::validation {
namespace {

const std::vector<Row>& rows() {
    static const std::vector<Row> kRows = nvdla_suite().rows({.machine = "nvdla_large"});
    return kRows;
}

const Row& row(std::string_view quantity) {
    for (const Row& candidate : rows())
        if (candidate.quantity == quantity) return candidate;
    throw std::runtime_error("no such row");
}

double error_of(const Row& row) {
    return std::abs(row.simulated / row.reference - 1);
}

TEST(Nvdla, TheSheetsResNet50IsMetInAllAndByLayer) {
    EXPECT_DOUBLE_EQ(row("sheet cycles").reference, 7'113'691);
    EXPECT_LE(error_of(row("sheet cycles")), 0.10);
    std::size_t layers = 0, near = 0;
    for (const Row& candidate : rows())
        if (candidate.name.starts_with("ResNet-50 sheet: ") && candidate.reference != 0) {
            ++layers;
            near += error_of(candidate) < 0.25;
        }
    EXPECT_EQ(layers, 50u);  // of the sheet's 54: four shortcuts count with what adds them
    EXPECT_GE(near, 30u);
}

TEST(Nvdla, TheRtlsAlexNetIsMetWithinAQuarter) {
    EXPECT_LE(error_of(row("RTL cycles")), 0.25);
    // ... where the sheet says 2.34 times fewer.
    EXPECT_GT(row("RTL cycles").reference, 2 * row("sheet cycles of AlexNet").reference);
}

TEST(Nvdla, FrameRatesFallWithTheMultipliers) {
    double before = 1e9;
    for (const Row& candidate : rows())
        if (candidate.quantity == "images a second") {
            EXPECT_LT(candidate.simulated, before);
            EXPECT_LE(error_of(candidate), 0.35);
            before = candidate.simulated;
        }
}

}  // namespace
}  // namespace lockstep::validation
