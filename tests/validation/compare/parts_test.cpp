// SPDX-License-Identifier: Apache-2.0
// What suite h200 is made of, each by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "sim/stats/sha256.h"
#include "validation/compare/mufu_tables.h"
#include "validation/compare/output_difference.h"
#include "validation/compare/recording_device.h"
#include "validation/measure/measure_pair.h"
#include "validation/measure/packed.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class OutputDifference : public testing::Test {
  protected:
    void SetUp() override { fs::create_directories(folder_); }
    void TearDown() override { fs::remove_all(folder_); }
    static Output output(std::vector<float> values) {
        Output made{.allocation = 0, .bytes = 4 * values.size(), .sha256 = "", .value = ""};
        made.data.resize(made.bytes);
        std::memcpy(made.data.data(), values.data(), made.bytes);
        made.sha256 = stats::sha256(made.data);
        return made;
    }
    const fs::path folder_ = fs::path(testing::TempDir()) / "output_difference";
};

TEST_F(OutputDifference, NamesTheFirstWord) {
    Output silicon = output({1, 2, 3, 4});
    const Output ours = output({1, 2.5, 3, 5});
    std::ofstream(output_path(folder_, silicon.sha256), std::ios::binary) << pack(silicon.data);
    silicon.data.clear();
    EXPECT_EQ(output_difference(silicon, ours, folder_.string()),
              "2 of 4 words differ, first [1]: silicon 0x40000000 (2, 1073741824), ours 0x40200000 "
              "(2.5, 1075838976)");
    EXPECT_THAT(output_difference(silicon, ours, ""), HasSubstr("were not kept"));
    std::ofstream(output_path(folder_, silicon.sha256), std::ios::binary) << pack(ours.data);
    EXPECT_THROW(output_difference(silicon, ours, folder_.string()), InputError);
}

TEST_F(OutputDifference, ReadsSmallValues) {
    Output silicon = output({1});
    silicon.value = "0000803f";
    EXPECT_THAT(output_difference(silicon, output({0}), ""),
                HasSubstr("first [0]: silicon 0x3f800000 (1, 1065353216), ours 0x00000000"));
}

TEST(RecordingDevice, RestoresMemoryBetweenTheLaunches) {
    const auto machine = config::Machine::load("h200");
    RecordingDevice once(make_emulator(machine, {}), {});
    RecordingDevice twice(make_emulator(machine, {}), {.twice = true});
    run_pair("sgd:n=300", 0, false, once);  // changes its operands in place
    run_pair("sgd:n=300", 0, false, twice);
    ASSERT_EQ(once.launches().size(), 1u);
    ASSERT_EQ(twice.launches().size(), 1u);
    ASSERT_FALSE(once.launches()[0].outputs.empty());
    for (std::size_t i = 0; i < once.launches()[0].outputs.size(); ++i)
        EXPECT_EQ(once.launches()[0].outputs[i].sha256, twice.launches()[0].outputs[i].sha256);
}

/// Notes what it is told of transfers.
class NotingDevice : public ForwardingDevice {
  public:
    using ForwardingDevice::ForwardingDevice;
    void note_transfer(DevicePointer pointer, std::uint64_t bytes, Transfer transfer) override {
        transfers.emplace_back(pointer, bytes, transfer);
        ForwardingDevice::note_transfer(pointer, bytes, transfer);
    }
    std::vector<std::tuple<DevicePointer, std::uint64_t, Transfer>> transfers;
};

TEST(RecordingDevice, RestoresByCopiesWithinTheDevice) {
    auto noting = std::make_unique<NotingDevice>(make_emulator(config::Machine::load("h200"), {}));
    const auto& transfers = noting->transfers;
    RecordingDevice twice(std::move(noting), {.twice = true});
    run_pair("vector_add:n=300", 0, false, twice);  // changes one of three arrays
    ASSERT_EQ(transfers.size(), 2u);
    const auto& [backup, read, first] = transfers[0];
    const auto& [sums, written, second] = transfers[1];
    EXPECT_EQ(first, Transfer::kRead);
    EXPECT_EQ(second, Transfer::kWrite);
    EXPECT_EQ(read, 1200u);
    EXPECT_EQ(written, 1200u);
    EXPECT_NE(backup, sums);
}

TEST(MufuTables, ComparesWithTheEmulator) {
    const fs::path folder = fs::path(testing::TempDir()) / "mufu_tables";
    fs::create_directories(folder / "tables");
    const TableRange range{"rcp", 0x3f800000, 500};
    std::vector<float> exact;
    for (std::uint32_t i = 0; i < 500; ++i)
        exact.push_back(rounded_result("rcp", std::bit_cast<float>(range.first_bits + i)));
    // The emulator rounds all of these right; a chip may not.
    exact[100] = std::nextafter(exact[100], 0.0f);
    const std::string packed = compress_table(range, exact);
    std::ofstream(folder / "tables/t.zst", std::ios::binary) << packed;
    TableIndex index{{}, {{range, "t.zst", stats::sha256(std::as_bytes(std::span(packed)))}}};
    index.provenance.is_sample = true;
    std::ofstream(folder / "tables/index.json") << to_text(index);

    const std::vector<MufuTable> tables = find_mufu_tables(folder.string());
    ASSERT_EQ(tables.size(), 1u);
    const Row row = compare_mufu_table(tables[0], *config::Machine::load("h200"));
    EXPECT_EQ(row.reference, 500);
    EXPECT_EQ(row.simulated, 499);
    EXPECT_THAT(row.note, HasSubstr("at most 1 units in the last place off; first at 0x3f800064"));

    std::ofstream(folder / "tables/t.zst", std::ios::binary) << packed.substr(1);
    EXPECT_THROW(read_mufu_table(tables[0]), InputError);
    index.tables[0].range.first_bits = 5;
    std::ofstream(folder / "tables/index.json") << to_text(index);
    EXPECT_THROW(find_mufu_tables(folder.string()), InputError);
    fs::remove_all(folder);
    EXPECT_TRUE(find_mufu_tables(folder.string()).empty());
}

}  // namespace
}  // namespace lockstep::validation
