// SPDX-License-Identifier: Apache-2.0
// Every source file is formatted as .clang-format says (clang-format 14, Debian 12's) and opens
// with its licence.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/paths.h"

namespace {

namespace fs = std::filesystem;

template <typename F>
void for_each_source(F&& f) {
    const fs::path root = lockstep::source_path();
    for (const char* room : {"sim", "isa", "models", "workloads", "validation", "tests"}) {
        if (!fs::exists(root / room)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
            const std::string extension = entry.path().extension();
            if ((extension == ".h" || extension == ".cpp") && !lockstep::is_foreign(entry.path()))
                f(entry.path());
        }
    }
}

TEST(Format, EveryFileOpensWithItsLicence) {
    for_each_source([](const fs::path& path) {
        std::ifstream file(path);
        std::string line;
        std::getline(file, line);
        EXPECT_EQ(line, "// SPDX-License-Identifier: Apache-2.0") << path;
    });
}

TEST(Format, EveryFileIsFormatted) {
    if (std::system("clang-format --version 2>/dev/null | grep -q 'version 14'") != 0)
        GTEST_SKIP() << "skipped: clang-format 14 is not installed";
    std::string files;
    for_each_source([&](const fs::path& path) { files += " '" + path.string() + "'"; });
    EXPECT_EQ(std::system(("clang-format --dry-run -Werror" + files).c_str()), 0);
}

}  // namespace
