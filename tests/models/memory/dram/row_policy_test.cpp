// SPDX-License-Identifier: Apache-2.0
// What page policies do to requests that come back to a row, and to those that do not.
#include "models/memory/dram/row_policy.h"

#include <gtest/gtest.h>

#include "tests/models/memory/dram/drive.h"

namespace lockstep::memory::dram {
namespace {

constexpr Cycle kApart = 4000, kTimeout = 500;

/// Reads of bank 0, so far apart that each meets an idle bank: rows 0, 1, 2, ... or 0 always.
Statistics read(const RowPolicy& policy, bool is_same_row, int count = 100, Cycle apart = kApart) {
    ControllerParameters parameters;
    parameters.refresh = RefreshPolicy::kNone;
    parameters.row_policy = &policy;
    parameters.row_timeout = kTimeout;
    Controller controller(make_geometry(find_preset("h200")), parameters);
    std::vector<Offered> requests;
    for (int i = 0; i < count; ++i)
        requests.push_back({Direction::kRead,
                            {0, is_same_row ? 0 : static_cast<std::uint32_t>(i), 0},
                            static_cast<Cycle>(i) * apart});
    drive(controller, requests);
    return controller.statistics();
}

TEST(RowPolicy, OpenRowsMakeHitsOfReturnsAndConflictsOfTheRest) {
    EXPECT_EQ(read(open_rows(), true).row_hits, 99u);
    EXPECT_EQ(read(open_rows(), false).row_conflicts, 99u);
}

TEST(RowPolicy, ClosedRowsMakeMissesOfBoth) {
    EXPECT_EQ(read(closed_rows(), true).row_misses, 100u);
    EXPECT_EQ(read(closed_rows(), false).row_misses, 100u);
    EXPECT_LT(read(closed_rows(), false).queue_cycles, read(open_rows(), false).queue_cycles);
    EXPECT_GT(read(closed_rows(), true).queue_cycles, read(open_rows(), true).queue_cycles);
}

TEST(RowPolicy, ATimeoutIsOpenBeforeAndClosedAfter) {
    EXPECT_EQ(read(timeout_rows(), true, 100, kTimeout - 100).row_hits, 99u);
    EXPECT_EQ(read(timeout_rows(), false, 100, kTimeout - 100).row_conflicts, 99u);
    EXPECT_EQ(read(timeout_rows(), true).row_misses, 100u);
    EXPECT_EQ(read(timeout_rows(), false).row_misses, 100u);
}

TEST(RowPolicy, AnAdaptiveOneLearnsFromReturnsAndFromConflicts) {
    // Returns come after 8 timeouts: it doubles until they hit.
    const Statistics same = read(adaptive_rows(), true);
    EXPECT_GE(same.row_hits, 95u);
    EXPECT_LE(same.row_misses, 5u);
    // Other rows come sooner than the timeout: it halves until they meet a closed bank.
    const Statistics others = read(adaptive_rows(), false, 100, kTimeout - 200);
    EXPECT_GE(others.row_misses, 97u);
    EXPECT_LE(others.row_conflicts, 3u);
}

}  // namespace
}  // namespace lockstep::memory::dram
