// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/sim/cli/run_program.h"

namespace lockstep::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Choose, SaysWhichCardFitsHowLongAndWhatItCosts) {
    const Result all = lockstep("choose resnet50 --train --batch 64 --dataset 1.2M");
    EXPECT_EQ(all.status, 0);
    EXPECT_THAT(all.output,
                AllOf(HasSubstr("h100 "), HasSubstr("gtx580"), HasSubstr("NO"),
                      HasSubstr("published runs of resnet50"), HasSubstr("USD an hour")));
    const Result large = lockstep("choose bert_base:seq=512 --train --batch 4096 --on rtx4090");
    EXPECT_EQ(large.status, 0);
    EXPECT_THAT(large.output, HasSubstr("None of them has the memory"));
}

TEST(Choose, TakesPricesOfTheUsersOwn) {
    const std::string prices = temporary("_prices.csv");
    std::ofstream(prices) << "machine,kind,usd,date,offer\nt4,hour,0.01,2026,mine\n";
    const Result result =
        lockstep("choose resnet50 --train --batch 8 --dataset 10k --prices " + prices);
    EXPECT_THAT(result.output, HasSubstr("at 0.01 USD an hour (mine, 2026)"));
    std::filesystem::remove(prices);
}

TEST(Choose, RefusesWhatIsWrong) {
    for (const auto& [arguments, why] : {std::pair{"resnet50 --dataset lots", "--dataset lots"},
                                         {"resnet50:batch=4", "--batch N"},
                                         {"sgemm", "chosen for networks"},
                                         {"resnet50 --epochs 3", "dataset"},
                                         {"resnet50 --on h100,h1000", "h1000"},
                                         {"resnet50 --prices /no/such.csv", "/no/such.csv"}}) {
        const Result result = lockstep(std::string("choose ") + arguments);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_THAT(result.output, HasSubstr(why)) << arguments;
    }
}

TEST(MachinesTable, HasALineAMachine) {
    const Result table = lockstep("machines --table");
    EXPECT_EQ(table.status, 0);
    EXPECT_THAT(table.output, AllOf(HasSubstr("132 SMs of 128 lanes"), HasSubstr("gtx580"),
                                    HasSubstr("4 arrays of 256x256")));
}

}  // namespace
}  // namespace lockstep::cli
