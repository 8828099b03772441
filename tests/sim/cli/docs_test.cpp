// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/sim/cli/run_program.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

TEST(Docs, AreWrittenAnywhere) {
    const std::string folder = temporary("_site");
    const Result result = lockstep("docs --out " + folder);
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output, HasSubstr(folder + "/index.html"));
    for (const char* file : {"index.html", "models/gpu/index.html", "sim/docs/glossary.html",
                             "site/index.js", "site/search.js"})
        EXPECT_TRUE(fs::exists(fs::path(folder) / file)) << file;
    EXPECT_EQ(lockstep("docs --out " + folder).status, 0);  // again, over its own
    std::ofstream(fs::path(folder) / "mine.txt") << "x";
    fs::remove_all(fs::path(folder) / "site");
    const Result refused = lockstep("docs --out " + folder);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.output, HasSubstr("holds other files"));
    EXPECT_TRUE(fs::exists(fs::path(folder) / "mine.txt"));
    fs::remove_all(folder);
}

TEST(Docs, RefuseWhatIsWrong) {
    EXPECT_EQ(lockstep("docs --out ''").status, 2);
    EXPECT_EQ(lockstep("docs --out x --port 0").status, 2);
    EXPECT_EQ(lockstep("docs --port 70000").status, 2);
    const Result result = lockstep("docs --out /no/such/folder");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.output, HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace lockstep::cli
