// SPDX-License-Identifier: Apache-2.0
#include "sim/config/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/config/units.h"
#include "sim/error/error.h"

namespace lockstep::config {
namespace {

using testing::HasSubstr;

/// A machine file in a folder of this process.
class MachineFile {
  public:
    explicit MachineFile(const std::string& text) {
        path_ = testing::TempDir() + "/machine_" + std::to_string(getpid()) + ".yaml";
        std::ofstream(path_) << text;
    }
    ~MachineFile() { std::filesystem::remove(path_); }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    const MachineFile file(text);
    try {
        Machine::load(file.path(), overrides);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

constexpr const char* kBased = "machine: mine\nbase: h200\n";

TEST(Machine, EveryBuiltInMachineIsComplete) {
    ASSERT_FALSE(Machine::names().empty());
    for (const std::string& name : Machine::names()) {
        const auto machine = Machine::load(name);
        EXPECT_EQ(machine->name(), name);
        for (const Parameter& parameter : machine->parameters())
            EXPECT_THAT(parameter.evidence, testing::AnyOf(testing::StartsWith("published: "),
                                                           testing::StartsWith("measured: "),
                                                           testing::StartsWith("assumed: ")));
    }
}

TEST(Machine, ValuesAreInCanonicalUnits) {
    const auto machine = Machine::load("h200");
    EXPECT_EQ(machine->integer("sm.count"), 132);
    EXPECT_EQ(machine->integer("shared_memory.size"), 228 * 1024);
    EXPECT_EQ(machine->number("clock.sm"), 1980);
    EXPECT_EQ(machine->text("product"), "NVIDIA H200");
}

TEST(Machine, OverridesReplaceValuesAndAreMarked) {
    const auto machine = Machine::load("h200", {"sm.count=64", "l2.size=1MiB", "clock.sm=2GHz"});
    EXPECT_EQ(machine->integer("sm.count"), 64);
    EXPECT_EQ(machine->integer("l2.size"), 1 << 20);
    EXPECT_EQ(machine->number("clock.sm"), 2000);
    EXPECT_EQ(Machine::load("h200", {"sm.count=64 "})->integer("sm.count"), 64);
    for (const Parameter& parameter : machine->parameters()) {
        if (parameter.path != "sm.count") continue;
        EXPECT_THAT(parameter.evidence, HasSubstr("command line"));
    }
}

TEST(Machine, AFileMayBuildOnAnother) {
    const MachineFile file(std::string(kBased) +
                           "sm:\n  count: {value: 7, evidence: \"assumed: a test\"}\n");
    const auto machine = Machine::load(file.path());
    EXPECT_EQ(machine->name(), "mine");
    EXPECT_EQ(machine->kind(), "gpu");
    EXPECT_EQ(machine->integer("sm.count"), 7);
    EXPECT_EQ(machine->integer("arch"), 90);
}

TEST(Machine, ErrorsNameTheLineAndTheNearestKey) {
    const std::string error =
        error_of(std::string(kBased) + "sm:\n  cuont: {value: 7, evidence: \"assumed: a test\"}\n");
    EXPECT_THAT(error, HasSubstr(".yaml:4: unknown parameter sm.cuont; did you mean sm.count?"));
}

TEST(Machine, ErrorsOfABaseNameTheFileAndLineThatWantsIt) {
    EXPECT_THAT(error_of("machine: mine\nbase: h20\n"),
                HasSubstr(".yaml:2: base: no machine named h20; did you mean h200?"));
    EXPECT_THAT(error_of("machine: mine\n\nbase: nowhere.yaml\n"),
                HasSubstr(".yaml:3: base: nowhere.yaml: cannot be read"));
}

TEST(Machine, WhatFollowsFromAnotherFollowsInAFileToo) {
    const MachineFile file(std::string(kBased) +
                           "dram:\n  bandwidth: {value: 2406.5, unit: GB/s, evidence: \"assumed: "
                           "a test\"}\n");
    EXPECT_NEAR(Machine::load(file.path())->number("clock.memory"), 1600.5, 1);
}

TEST(Machine, WrongValuesAreErrors) {
    const auto with = [](const std::string& body) { return error_of(kBased + body); };
    EXPECT_THAT(with("sm:\n  count: {value: many, evidence: \"assumed: x\"}\n"),
                HasSubstr("'many' is not a number"));
    EXPECT_THAT(with("sm:\n  count: {value: 0, evidence: \"assumed: x\"}\n"),
                HasSubstr("out of range"));
    EXPECT_THAT(with("sm:\n  count: {value: 1.5, evidence: \"assumed: x\"}\n"),
                HasSubstr("not a whole number"));
    EXPECT_THAT(with("l2:\n  size: {value: 5, unit: MHz, evidence: \"assumed: x\"}\n"),
                HasSubstr("unit 'MHz'"));
    EXPECT_THAT(with("l2:\n  size: {value: 5, unit: KiB}\n"), HasSubstr("evidence"));
    EXPECT_THAT(with("l2:\n  size: {valu: 5}\n"),
                HasSubstr("l2.size: unknown field 'valu'; did you mean value?"));
    EXPECT_THAT(with("l2:\n  size: {unit: B}\n"), HasSubstr("l2.size: 'value' is missing"));
    EXPECT_THAT(with("l3: {}\n"), HasSubstr("unknown parameter l3"));
    EXPECT_THAT(with("sm: &a\n  again: *a\n"), HasSubstr("unknown parameter sm.again"));
    EXPECT_THAT(with("l2: 5\n"), HasSubstr("l2: wanted"));
    EXPECT_THAT(with("sm: {cont: 5}\n"), HasSubstr("did you mean sm.count?"));
    EXPECT_THAT(with("sm: {count: 5}\n"), HasSubstr("as {value: 5, unit: 1, evidence"));
    EXPECT_THAT(with("l2: {size: [\n"), HasSubstr(".yaml:"));
    EXPECT_THAT(error_of("machine: x\nkind: toaster\n"), HasSubstr("unknown kind"));
    EXPECT_THAT(error_of("machine: x\nkind: gpu\n"), HasSubstr("is missing"));
    EXPECT_THAT(error_of("- 1\n"), HasSubstr("no mapping"));
    EXPECT_THAT(error_of(kBased, {"sm.count"}), HasSubstr("wanted path=value"));
    EXPECT_THAT(error_of(kBased, {"sm.coun=1"}), HasSubstr("did you mean sm.count?"));
    EXPECT_THAT(error_of(kBased, {"l2.size=5parsec"}), HasSubstr("unit 'parsec'"));
}

TEST(Machine, AnUnknownNameSuggestsTheNearest) {
    try {
        Machine::load("h20");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean h200?"));
    }
}

TEST(Units, ConvertWithinAQuantityOnly) {
    EXPECT_EQ(conversion("KiB", "B"), 1024.0);
    EXPECT_EQ(conversion("MHz", "MHz"), 1.0);
    EXPECT_EQ(conversion("KiB", "MHz"), std::nullopt);
}

}  // namespace
}  // namespace lockstep::config
