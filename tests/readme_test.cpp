// SPDX-License-Identifier: Apache-2.0
// The README leads to every other page, and to none that is not there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/paths.h"

namespace {

namespace fs = std::filesystem;

std::set<std::string> links() {
    std::ostringstream text;
    text << std::ifstream(lockstep::source_path("README.md")).rdbuf();
    const std::string page = text.str();
    static const std::regex kLink(R"(\]\(([^)#]+)\))");
    std::set<std::string> found;
    for (std::sregex_iterator it(page.begin(), page.end(), kLink), end; it != end; ++it)
        found.insert((*it)[1]);
    return found;
}

TEST(Readme, LeadsToPagesThatAreThere) {
    for (const std::string& link : links())
        EXPECT_TRUE(fs::exists(lockstep::source_path(link))) << link;
}

TEST(Readme, LeadsToEveryReadmeAndLab) {
    const std::set<std::string> found = links();
    int pages = 0;
    for (const char* room : {"sim", "isa", "models", "workloads", "validation"})
        for (const auto& entry : fs::recursive_directory_iterator(lockstep::source_path(room))) {
            const std::string name = entry.path().filename();
            if (name != "README.md" && name != "lab.md") continue;
            if (lockstep::is_foreign(entry.path())) continue;
            ++pages;
            const std::string page = fs::relative(entry.path(), lockstep::source_path(""));
            EXPECT_TRUE(found.contains(page)) << page;
        }
    EXPECT_GT(pages, 20);
}

}  // namespace
