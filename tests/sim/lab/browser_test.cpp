// SPDX-License-Identifier: Apache-2.0
// The pages in a real browser, and that those which are committed are those that the sources make.
// Where Node, its packages or Chromium are missing, these are skipped: the program needs none.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/lab/library.h"
#include "tests/paths.h"

namespace lockstep::lab {
namespace {

namespace fs = std::filesystem;

const std::string kWeb = source_path("sim/lab/web");

/// "" where all is there.
std::string missing(bool needs_browser) {
    const auto runs = [](const std::string& command) {
        return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
    };
    if (!runs("node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)'"))
        return "Node 18 or later";
    for (const char* package : {"vite", "playwright-core", "axe-core"})
        if (!fs::exists(kWeb + "/node_modules/" + package))
            return "npm's packages (npm ci in sim/lab/web)";
    const char* chosen = std::getenv("LOCKSTEP_CHROMIUM");
    if (needs_browser && !fs::exists(chosen != nullptr ? chosen : "/usr/bin/chromium"))
        return "Chromium";
    return "";
}

struct Ended {
    int status;
    std::string output;
};

Ended run(const std::string& command) {
    std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer;
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        output.append(buffer.data(), count);
    return {WEXITSTATUS(pclose(pipe)), output};
}

std::string contents(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::vector<std::string> labs() {
    std::vector<std::string> names = {"home"};
    const Library library;
    for (const KeyedLab& keyed : library.labs()) names.push_back(keyed.lab.name);
    return names;
}

class Browser : public testing::TestWithParam<std::string> {};

TEST_P(Browser, ShowsEveryPageAndChecksEveryAnswer) {
    if (const std::string what = missing(true); !what.empty())
        GTEST_SKIP() << "skipped: " << what << " is missing";
    const Ended ended = run("node " + source_path("tests/sim/lab/browser/labs.mjs") + " " +
                            binary_path("bin/lockstep") + " " + source_path() + " " + GetParam());
    EXPECT_EQ(ended.status, 0) << ended.output;
}

INSTANTIATE_TEST_SUITE_P(Pages, Browser, testing::ValuesIn(labs()),
                         [](const auto& name) { return name.param; });

TEST(Pages, AreThoseThatTheSourcesMake) {
    if (const std::string what = missing(false); !what.empty())
        GTEST_SKIP() << "skipped: " << what << " is missing";
    const std::string folder =
        fs::path(testing::TempDir()) / (std::to_string(getpid()) + "_lab_pages");
    const Ended built = run("cd " + kWeb + " && node_modules/.bin/tsc --noEmit && " +
                            "node_modules/.bin/vite build --emptyOutDir --outDir " + folder);
    ASSERT_EQ(built.status, 0) << built.output;
    for (const char* name : {"index.html", "lab.js", "lab.css", "icon.svg"})
        EXPECT_EQ(contents(kWeb + "/dist/" + name), contents(folder + "/" + name))
            << name << " is old: ninja -C build lab_web";
    fs::remove_all(folder);
}

}  // namespace
}  // namespace lockstep::lab
