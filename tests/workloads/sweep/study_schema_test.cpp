// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/study_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/paths.h"
#include "tests/sim/config/schema_check.h"

namespace lockstep::sweep {
namespace {

using testing::HasSubstr;

std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string error_of(const std::string& text) {
    static const SchemaCheck kSchema(study_schema());
    return kSchema.error_of(json_of(YAML::Load(text)));
}

TEST(StudySchema, CommittedFileIsUpToDate) {
    const std::string path = source_path("workloads/sweep/study.schema.json");
    // Made anew by: LOCKSTEP_WRITE_PAGES=1 test_workloads_sweep --gtest_filter=StudySchema.*
    if (std::getenv("LOCKSTEP_WRITE_PAGES") != nullptr) std::ofstream(path) << study_schema();
    EXPECT_TRUE(contents(path) == study_schema()) << path << " is not up to date";
}

TEST(StudySchema, TakesTheExampleOfTheReadme) {
    const std::string page = contents(source_path("workloads/sweep/README.md"));
    const std::size_t begin = page.find("```yaml\n") + 8;
    EXPECT_EQ(error_of(page.substr(begin, page.find("```", begin) - begin)), "");
}

TEST(StudySchema, RefusesWhatTheReaderRefuses) {
    EXPECT_THAT(error_of("varies: {}"), HasSubstr("/varies is unknown"));
    EXPECT_THAT(error_of("samples: many"), HasSubstr("/samples: type"));
    EXPECT_THAT(error_of("samples: -1"), HasSubstr("/samples: minimum"));
    EXPECT_THAT(error_of("design: gird"), HasSubstr("/design: enum"));
    EXPECT_THAT(error_of("vary: [1]"), HasSubstr("/vary: type"));
    EXPECT_THAT(error_of("no_values: 3"), HasSubstr("/no_values: type"));
    EXPECT_THAT(error_of("workloads: {a: b}"), HasSubstr("/workloads: anyOf"));
}

}  // namespace
}  // namespace lockstep::sweep
