// SPDX-License-Identifier: Apache-2.0
// The README leads to every other page, and to none that is not there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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

/// Mean of a suite's errors by class, each as often as it has rows.
double mean_error(const std::string& suite) {
    std::ifstream file(lockstep::source_path("validation/accuracy/accuracy.csv"));
    double sum = 0, rows = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream columns(line);
        std::vector<std::string> column;
        for (std::string text; std::getline(columns, text, ',');) column.push_back(text);
        if (column.size() != 7 || column[6] != suite) continue;
        if (suite == "silicon" && column[0] != "gpu") continue;  // those of each card
        sum += std::stod(column[2]) * std::stod(column[4]);
        rows += std::stod(column[2]);
    }
    return rows > 0 ? sum / rows : 0;
}

TEST(Readme, StatesTheErrorsThatTheSuitesMade) {
    std::ifstream page(lockstep::source_path("README.md"));
    int suites = 0;
    for (std::string line; std::getline(page, line);)
        for (const std::string suite : {"silicon", "tpu_measured"}) {
            std::smatch found;
            if (!std::regex_search(line, found,
                                   std::regex("^\\| `" + suite + "` .*\\| ([0-9.]+)% \\|")))
                continue;
            EXPECT_NEAR(std::stod(found[1]), mean_error(suite), 0.06) << line;
            ++suites;
        }
    EXPECT_EQ(suites, 2);
}

}  // namespace
