// SPDX-License-Identifier: Apache-2.0
// What has a way of its own for AVX-512 compiles for hosts without it, too.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "tests/paths.h"

namespace {

constexpr std::string_view kNative = "-march=native";

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The headers of ours that a source includes itself, below the tree's root.
std::set<std::string> headers_of(const std::string& text) {
    constexpr std::string_view kBegin = "#include \"";
    std::set<std::string> headers;
    for (auto at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at + 1)) {
        const auto name = at + kBegin.size();
        headers.insert(text.substr(name, text.find('"', name) - name));
    }
    return headers;
}

bool names_avx512(const std::string& text) {
    return text.find("__AVX512") != std::string::npos;
}

TEST(Portable, CompilesWithoutAvx512) {
    std::ifstream commands(lockstep::binary_path("compile_commands.json"));
    if (!commands) GTEST_SKIP() << "skipped: no compile_commands.json";
    const std::string tests = lockstep::source_path("tests/");
    std::map<std::string, std::string> checks;  // the command, by what it is to check
    for (const auto& entry : nlohmann::json::parse(commands)) {
        const std::string file = entry["file"], folder = entry["directory"];
        std::string command = entry["command"];
        const auto march = command.find(kNative);
        if (march == std::string::npos || file.starts_with(tests)) continue;
        command.replace(march, kNative.size(), "-march=x86-64-v3 -fsyntax-only");
        command = "cd '" + folder + "' && " + command;
        const std::string text = text_of(file);
        if (names_avx512(text)) checks[file] = command;
        for (const std::string& header : headers_of(text))
            if (names_avx512(text_of(lockstep::source_path(header))))
                checks.emplace(header, command);
    }
#if defined(__x86_64__)
    if (checks.empty()) GTEST_SKIP() << "skipped: not compiled for this host";
    for (const auto& [file, command] : checks) EXPECT_EQ(std::system(command.c_str()), 0) << file;
#else
    GTEST_SKIP() << "skipped: no x86 host";
#endif
}

}  // namespace
