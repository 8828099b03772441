// SPDX-License-Identifier: Apache-2.0
#include "validation/measure/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/error/error.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;

MeasurementFile example() {
    MeasurementFile file;
    file.provenance.gpu = "G";
    file.provenance.is_sample = true;
    MeasuredPair pair{.group = "g", .workload = "relu:n=1", .empty_launch = 2.5};
    pair.cubins["relu"] = std::string(64, 'a');
    pair.checks = {{"y", "", true}};
    pair.values = {{"latency", "cycles", {1, 2.5}}};
    pair.launches = {{"relu",
                      "relu",
                      {2},
                      {256},
                      16,
                      {1.5},
                      {2, 3},
                      {1},
                      1980,
                      {{{1, 4, std::string(64, 'b'), "00000000"}, true}}}};
    file.pairs = {pair};
    file.failures = {{"sgd", "no"}};
    return file;
}

std::string error_of(const std::string& text) {
    try {
        read_measurements(text, "m.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Record, ReadsWhatItWrote) {
    const std::string text = to_text(example());
    const MeasurementFile file = read_measurements(text, "m.json");
    EXPECT_EQ(to_text(file), text);
    EXPECT_EQ(kind_of(text, "m.json"), "measurements");
    EXPECT_EQ(file.pairs[0].launches[0].cold, (std::vector<double>{2, 3}));
}

TEST(Record, NamesFileAndField) {
    const std::string text = to_text(example());
    EXPECT_THAT(error_of(text.substr(0, text.size() / 2)), HasSubstr("m.json: offset "));
    EXPECT_THAT(error_of("{\"schema\": 1e999}"), HasSubstr("m.json: "));
    const auto without = [&](const std::string& path) {
        auto json = nlohmann::ordered_json::parse(text);
        const nlohmann::ordered_json::json_pointer at(path);
        json.at(at.parent_pointer()).erase(at.back());
        return error_of(json.dump());
    };
    EXPECT_EQ(without("/provenance/gpu"), "m.json: provenance.gpu: is missing");
    EXPECT_EQ(without("/pairs/0/launches/0/event_us/cold"),
              "m.json: pairs[0].launches[0].event_us.cold: is missing");
    const auto with = [&](const std::string& path, const nlohmann::ordered_json& value) {
        auto json = nlohmann::ordered_json::parse(text);
        json.at(nlohmann::ordered_json::json_pointer(path)) = value;
        return error_of(json.dump());
    };
    EXPECT_EQ(with("/pairs/0/cubins/relu", "xyz"),
              "m.json: pairs[0].cubins.relu: must be a SHA-256 of 64 hexadecimal digits");
    EXPECT_EQ(with("/pairs/0/launches/0/grid", {1, 2}),
              "m.json: pairs[0].launches[0].grid: must have three numbers");
    EXPECT_EQ(with("/pairs/0/values/0/values/1", nullptr),
              "m.json: pairs[0].values[0].values[1]: must be a number");
    // What is read before the member that is wrong is let go of once.
    EXPECT_EQ(without("/pairs/0/launches/0/outputs/0/reproducible"),
              "m.json: pairs[0].launches[0].outputs[0].reproducible: is missing");
    EXPECT_EQ(with("/pairs/0/launches/0/outputs/0/value", "0g"),
              "m.json: pairs[0].launches[0].outputs[0].value: must be of hexadecimal digits");
    EXPECT_EQ(with("/pairs/0/launches/0/outputs/0/value", "00"),
              "m.json: pairs[0].launches[0].outputs[0].value: must have two digits for each of 4 "
              "bytes, or none");
    EXPECT_EQ(with("/pairs/0/launches/0/event_us/first/0", -1),
              "m.json: pairs[0].launches[0].event_us.first[0]: must not be negative");
    EXPECT_EQ(error_of(""), "m.json: the file is empty");
    EXPECT_THAT(error_of("{\"schema\": 1e999}"), HasSubstr("m.json: "));
    EXPECT_EQ(with("/provenance/cuda_version", 0xffffffff),
              "m.json: provenance.cuda_version: must be at most 2147483647");
    EXPECT_EQ(with("/kind", "counters"), "m.json: kind: must be measurements");
    EXPECT_EQ(with("/schema", 2), "m.json: schema: must be 1");
}

}  // namespace
}  // namespace lockstep::validation
