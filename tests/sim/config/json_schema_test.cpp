// SPDX-License-Identifier: Apache-2.0
#include "sim/config/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "sim/config/built_in_machines.h"
#include "sim/config/machine.h"
#include "tests/paths.h"
#include "tests/sim/config/schema_check.h"

namespace lockstep::config {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

const SchemaCheck& schema_of(std::string_view kind) {
    static std::map<std::string, SchemaCheck> made;
    return made.try_emplace(std::string(kind), json_schema(*find_kind(kind))).first->second;
}

std::string gpu_error(const std::string& text) {
    return schema_of("gpu").error_of(json_of(YAML::Load("machine: mine\n" + text)));
}

TEST(JsonSchema, CommittedFilesAreUpToDate) {
    for (const Kind& kind : kinds()) {
        const std::string path =
            source_path("models/schemas/" + std::string(kind.name) + ".schema.json");
        // Made anew by: LOCKSTEP_WRITE_PAGES=1 test_sim_config --gtest_filter=JsonSchema.*
        if (std::getenv("LOCKSTEP_WRITE_PAGES") != nullptr)
            std::ofstream(path) << json_schema(kind);
        EXPECT_TRUE(contents(path) == json_schema(kind)) << path << " is not up to date";
    }
}

TEST(JsonSchema, TakesEveryBuiltInMachine) {
    std::map<std::string, nlohmann::json> files;
    for (const BuiltInMachine& machine : built_in_machines())
        files[std::string(machine.name)] = json_of(YAML::Load(std::string(machine.text)));
    for (const auto& [name, file] : files) {
        const nlohmann::json* first = &file;  // the one without a base says the kind
        while (first->contains("base")) first = &files.at((*first)["base"]);
        EXPECT_THAT(schema_of((*first)["kind"].get<std::string>()).error_of(file), IsEmpty())
            << name;
    }
}

TEST(JsonSchema, TakesWhatTheReaderTakes) {
    for (const char* text :
         {"base: h200", "base: ../other.yaml", "base: h200\nprices: gpu_n4",
          "base: h200\nl2: {size: {value: 0.5, unit: GiB, evidence: 'assumed: x'}}",
          "base: h200\nsm: {count: {value: 64, evidence: 'measured: x'}}",
          "base: h200\nl2: {replacement: {value: fifo, evidence: 'assumed: x'}}",
          "base: h200\nideal: {l2: {value: true, evidence: 'assumed: x'}}",
          "base: h200\nclock: {sm: {value: 2, unit: GHz, evidence: 'published: x'}}"})
        EXPECT_THAT(gpu_error(text), IsEmpty()) << text;
}

TEST(JsonSchema, RefusesWhatTheReaderRefuses) {
    const auto refuses = [](const std::string& text, const std::string& what) {
        EXPECT_THAT(gpu_error(text), HasSubstr(what)) << text;
    };
    refuses("base: h2000", "/base");
    refuses("kind: gpu", "is missing");
    refuses("kind: tpu\nbase: h200", "/kind");
    refuses("base: h200\nsn: {}", "/sn is unknown");
    refuses("base: h200\nsm: {counts: {value: 1, evidence: 'assumed: x'}}",
            "/sm/counts is unknown");
    refuses("base: h200\nsm: {count: 64}", "/sm/count: type");
    refuses("base: h200\nsm: {count: {value: 64}}", "evidence is missing");
    refuses("base: h200\nsm: {count: {value: 64, evidence: guess}}", "/sm/count/evidence");
    refuses("base: h200\nsm: {count: {value: 0, evidence: 'assumed: x'}}", "/sm/count/value");
    refuses("base: h200\nsm: {count: {value: 1.5, evidence: 'assumed: x'}}", "/sm/count/value");
    refuses("base: h200\nsm: {count: {value: few, evidence: 'assumed: x'}}", "/sm/count/value");
    refuses("base: h200\nl2: {replacement: {value: plru, evidence: 'assumed: x'}}",
            "/l2/replacement/value");
    refuses("base: h200\nl2: {size: {value: 60, unit: MHz, evidence: 'assumed: x'}}",
            "/l2/size/unit");
    refuses("base: h200\nl2: {size: {value: 60, evidence: 'assumed: x'}}", "unit is missing");
    refuses("base: h200\nl2: {size: {value: 60000, unit: GiB, evidence: 'assumed: x'}}",
            "/l2/size/value: maximum");
}

}  // namespace
}  // namespace lockstep::config
