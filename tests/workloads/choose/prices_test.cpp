// SPDX-License-Identifier: Apache-2.0
#include "workloads/choose/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"

namespace lockstep::choose {
namespace {

using testing::HasSubstr;

constexpr const char* kHead = "machine,kind,usd,date,offer,source\n";

TEST(Prices, TheLowestCounts) {
    std::string table = kHead;
    table += "h100,hour,4,2026-01,a,x\nh100,hour,3.5,2025-01,b,x\nh100,buy,30000,2024,c,x\n";
    const Prices prices("t", table);
    EXPECT_EQ(prices.hour("h100")->usd, 3.5);
    EXPECT_EQ(prices.hour("h100")->offer, "b");
    EXPECT_EQ(prices.card("h100")->usd, 30000);
    EXPECT_FALSE(prices.hour("a100"));
}

TEST(Prices, TheBuiltInTableIsGood) {
    EXPECT_TRUE(Prices::built_in().hour("h100"));
    EXPECT_TRUE(Prices::built_in().card("rtx4090"));
}

TEST(Prices, ABadTableIsRefusedWithItsPlace) {
    const auto why = [](const std::string& text) -> std::string {
        try {
            Prices("t.csv", text);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(why(std::string(kHead) + "h1000,hour,4,2026,a,x\n"),
                HasSubstr("row 1: no machine"));
    EXPECT_THAT(why(std::string(kHead) + "h100,hours,4,2026,a,x\n"), HasSubstr("neither hour"));
    EXPECT_THAT(why(std::string(kHead) + "h100,hour,cheap,2026,a,x\n"), HasSubstr("not a number"));
    EXPECT_THAT(why(std::string(kHead) + "h100,hour,-1,2026,a,x\n"), HasSubstr("a price of -1"));
    EXPECT_THAT(why(std::string(kHead) + "h100,hour\n"), HasSubstr("t.csv:2"));
    EXPECT_THAT(why("machine,kind\n"), HasSubstr("no column usd"));
    EXPECT_THROW(Prices::read("/no/such/file.csv"), InputError);
}

}  // namespace
}  // namespace lockstep::choose
