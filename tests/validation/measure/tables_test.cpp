// SPDX-License-Identifier: Apache-2.0
#include "validation/measure/tables.h"

#include <gtest/gtest.h>

#include <bit>

#include "sim/error/error.h"

namespace lockstep::validation {
namespace {

TEST(Tables, KeepEveryBitPattern) {
    for (TableRange range : table_ranges()) {
        range.count = 1000;
        std::vector<float> results;
        for (std::uint32_t i = 0; i < 1000; ++i) {
            const float exact =
                rounded_result(range.function, std::bit_cast<float>(range.first_bits + i));
            results.push_back(
                std::bit_cast<float>(std::bit_cast<std::uint32_t>(exact) + i % 3 - 1));
        }
        results[10] = -0.0f, results[11] = 1e30f;
        results[12] = std::bit_cast<float>(0xffc12345u);
        const std::string bytes = compress_table(range, results);
        EXPECT_LT(bytes.size(), 600u);
        const std::vector<float> again = expand_table(range, bytes, "t");
        for (int i = 0; i < 1000; ++i)
            EXPECT_EQ(std::bit_cast<std::uint32_t>(again[i]),
                      std::bit_cast<std::uint32_t>(results[i]))
                << range.function << " " << i;
        EXPECT_THROW(expand_table(range, bytes.substr(0, bytes.size() / 2), "t"), InputError);
        range.count = 999;
        EXPECT_THROW(expand_table(range, bytes, "t"), InputError);
    }
}

TEST(Tables, RoundedResults) {
    EXPECT_EQ(rounded_result("rcp", 1.5f), 1 / 1.5f);
    EXPECT_EQ(rounded_result("sqrt", 2.0f), 1.41421356f);
    EXPECT_EQ(rounded_result("lg2", 1.0f), 0.0f);
}

}  // namespace
}  // namespace lockstep::validation
