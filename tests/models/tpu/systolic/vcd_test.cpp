// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/tpu/systolic/netlist.h"
#include "sim/error/error.h"

namespace lockstep::tpu {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const Operands<std::int32_t> kOperands{{2, 2, 2}, {1, 2, 3, 4}, {5, 6, 7, 8}};
constexpr ArrayShape kArray{2, 2, Dataflow::kWeightStationary};

std::string trace_of(const std::string& name) {
    const std::string path = fs::path(testing::TempDir()) / name;
    const auto result = run_netlist(kArray, Overlap::kNone, kOperands, path);
    EXPECT_EQ(result.c, (std::vector<std::int32_t>{19, 22, 43, 50}));
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    fs::remove(path);
    return text.str();
}

TEST(Vcd, NamesTheWiresAndRegistersOfEveryPe) {
    const std::string text = trace_of("systolic_a.vcd");
    for (const char* name : {"pe_0_0", "pe_1_1", "west", "north", "sum_in", "sum_out", "held",
                             "spare", "shift", "swap", "multiply", "clk", "cycle", "fold"})
        EXPECT_THAT(text, HasSubstr((std::string(" ") + name + " ")));
    EXPECT_THAT(text, Not(HasSubstr(" unload "))) << "sums do not stay";
    // 19 and 50, the first and the last result, appear on a wire.
    EXPECT_THAT(text, HasSubstr("\nb10011 "));
    EXPECT_THAT(text, HasSubstr("\nb110010 "));
}

TEST(Vcd, IsTheSameEveryTime) {
    EXPECT_EQ(trace_of("systolic_b.vcd"), trace_of("systolic_c.vcd"));
}

TEST(Vcd, AWindowHasItsCyclesAlone) {
    const std::string path = fs::path(testing::TempDir()) / "systolic_window.vcd";
    const auto result = run_netlist(kArray, Overlap::kNone, kOperands, NetlistTrace(path, 2, 4));
    EXPECT_EQ(result.c, (std::vector<std::int32_t>{19, 22, 43, 50}));
    const auto whole = run_netlist(kArray, Overlap::kNone, kOperands);
    EXPECT_EQ(result.cycles, whole.cycles);
    // A clock cycle is 1 ns, a unit of the file 100 ps; cycle 0 begins at 1 ns.
    std::ifstream file(path);
    std::vector<int> times;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("#")) times.push_back(std::stoi(line.substr(1)));
    ASSERT_FALSE(times.empty());
    EXPECT_GE(times.front(), 27);
    EXPECT_LE(times.back(), 48);
    EXPECT_THAT(times, testing::AllOf(testing::Contains(30), testing::Contains(40)));
    fs::remove(path);
}

TEST(Vcd, AWindowBeyondTheEndHoldsWhatThereIs) {
    const std::string path = fs::path(testing::TempDir()) / "systolic_long.vcd";
    const auto result = run_netlist(kArray, Overlap::kNone, kOperands, NetlistTrace(path, 3, 1000));
    EXPECT_EQ(result.c, (std::vector<std::int32_t>{19, 22, 43, 50}));
    EXPECT_TRUE(fs::exists(path));
    fs::remove(path);
}

TEST(Vcd, IsWrittenWholeOrNotAtAll) {
    EXPECT_THROW(
        run_netlist(kArray, Overlap::kNone, kOperands, std::string("/no/such/folder/x.vcd")),
        InputError);
    const fs::path folder = fs::path(testing::TempDir()) / "systolic_vcd";
    fs::create_directories(folder / "x.vcd");  // cannot be replaced by a file
    EXPECT_THROW(run_netlist(kArray, Overlap::kNone, kOperands, (folder / "x.vcd").string()),
                 InputError);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
    fs::remove_all(folder);
}

}  // namespace
}  // namespace lockstep::tpu
