// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"

namespace lockstep::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr config::Entry kBytes{"l2.size", config::Type::kInteger, "B", 1, 1e12, ""};
constexpr config::Entry kCount{"sm.count", config::Type::kInteger, "1", 1, 1024, ""};
constexpr config::Entry kClock{"clock.sm", config::Type::kNumber, "MHz", 1, 1e5, ""};
constexpr config::Entry kText{"dataflow", config::Type::kText, "1", 0, 0, ""};

std::vector<std::string> texts(const Axis& axis) {
    std::vector<std::string> list;
    for (const Value& value : axis.values) list.push_back(value.text);
    return list;
}
std::vector<double> numbers(const Axis& axis) {
    std::vector<double> list;
    for (const Value& value : axis.values) list.push_back(value.number);
    return list;
}
Axis read(const config::Entry* entry, const std::vector<std::string>& items) {
    return parse_axis(entry ? std::string(entry->path) : "workload.m", items, entry, {"--vary", 0});
}
std::string error(const config::Entry* entry, const std::vector<std::string>& items) {
    try {
        read(entry, items);
    } catch (const InputError& e) {
        return e.what();
    }
    return "";
}

TEST(Axis, ReadsLists) {
    const Axis axis = read(&kBytes, {"25MiB", "1048576"});
    EXPECT_THAT(texts(axis), ElementsAre("25MiB", "1048576"));
    EXPECT_THAT(numbers(axis), ElementsAre(25.0 * 1048576, 1048576.0));
    EXPECT_THAT(texts(read(&kText, {"ws", "a..b"})), ElementsAre("ws", "a..b"));
    EXPECT_THAT(numbers(read(nullptr, {"64", "128"})), ElementsAre(64, 128));
}

TEST(Axis, ReadsRangesWithSteps) {
    EXPECT_THAT(texts(read(&kCount, {"10..50..20"})), ElementsAre("10", "30", "50"));
    EXPECT_THAT(texts(read(&kCount, {"10..49..20"})), ElementsAre("10", "30"));
    EXPECT_THAT(texts(read(&kCount, {"16..128..*2", "132"})),
                ElementsAre("16", "32", "64", "128", "132"));
    EXPECT_THAT(texts(read(&kBytes, {"16..64MiB..16MiB"})),
                ElementsAre("16MiB", "32MiB", "48MiB", "64MiB"));
    EXPECT_THAT(numbers(read(&kClock, {"1GHz..2GHz..500MHz"})), ElementsAre(1000, 1500, 2000));
    // Steps that no binary number is do not lose the end.
    EXPECT_EQ(read(&kClock, {"1..2..0.1"}).values.size(), 11u);
}

TEST(Axis, TakesSamplesOfIntervals) {
    const Axis whole = read(&kCount, {"1..4"});
    EXPECT_EQ(whole.at(0).text, "1");
    EXPECT_EQ(whole.at(0.249).text, "1");
    EXPECT_EQ(whole.at(0.25).text, "2");
    EXPECT_EQ(whole.at(0.999).text, "4");
    const Axis real = read(&kClock, {"100..10000..log"});
    EXPECT_DOUBLE_EQ(real.at(0.5).number, 1000);
    const Axis list = read(&kCount, {"7", "9"});
    EXPECT_EQ(list.at(0.49).text, "7");
    EXPECT_EQ(list.at(0.5).text, "9");
}

TEST(Axis, SaysWhatIsWrong) {
    EXPECT_THAT(error(&kCount, {"10", "x"}), HasSubstr("'x' is not a number"));
    EXPECT_THAT(error(&kCount, {"1", "2000"}), HasSubstr("out of range"));
    EXPECT_THAT(error(&kCount, {"5", ""}), HasSubstr("a value is missing"));
    EXPECT_THAT(error(&kCount, {"5", "5"}), HasSubstr("5 stands twice"));
    EXPECT_THAT(error(&kBytes, {"1MiB", "1048576"}), HasSubstr("stands twice"));
    EXPECT_THAT(error(&kCount, {"5..1..1"}), HasSubstr("ends before it begins"));
    EXPECT_THAT(error(&kCount, {"1..5..0"}), HasSubstr("the step must be above 0"));
    EXPECT_THAT(error(&kCount, {"1..5..*1"}), HasSubstr("a factor above 1"));
    EXPECT_THAT(error(&kCount, {"1..5", "7"}), HasSubstr("an interval stands alone"));
    EXPECT_THAT(error(&kBytes, {"1MiB..2MHz..1MiB"}), HasSubstr("unit 'MHz'"));
    EXPECT_THAT(error(&kClock, {"0..5..log"}), HasSubstr("a logarithm"));
}

}  // namespace
}  // namespace lockstep::sweep
