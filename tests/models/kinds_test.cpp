// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>

#include "sim/config/parameters_page.h"
#include "sim/config/schema.h"
#include "tests/page.h"

namespace lockstep::config {
namespace {

TEST(Kinds, EachHasAPageOfItsParameters) {
    const std::map<std::string_view, const char*> folders{
        {"gpu", "models/gpu"},           {"tpu", "models/tpu"},
        {"npu", "models/npu"},           {"systolic", "models/tpu/systolic"},
        {"roofline", "models/roofline"}, {"host", "models/host"}};
    for (const Kind& kind : kinds()) {
        const auto folder = folders.find(kind.name);
        ASSERT_TRUE(folder != folders.end()) << kind.name;
        expect_page(std::string(folder->second) + "/parameters.md", parameters_page(kind));
    }
}

TEST(Kinds, EachParameterIsExplainedOnce) {
    for (const Kind& kind : kinds()) {
        std::set<std::string_view> paths;
        for (const Entry& entry : kind.entries) {
            EXPECT_TRUE(paths.insert(entry.path).second) << kind.name << ": " << entry.path;
            EXPECT_FALSE(entry.meaning.empty()) << kind.name << ": " << entry.path;
            EXPECT_LE(entry.minimum, entry.maximum) << kind.name << ": " << entry.path;
        }
    }
}

}  // namespace
}  // namespace lockstep::config
