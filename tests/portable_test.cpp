// SPDX-License-Identifier: Apache-2.0
// What has a way of its own for AVX-512 compiles for hosts without it, too.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/include_line.h"
#include "tests/paths.h"

namespace {

constexpr std::string_view kNative = "-march=native";

struct Source {
    bool names_avx512 = false;
    std::vector<std::string> headers;  ///< of ours that it includes itself
};

/// Headers are asked for by many: each file is read once.
const Source& source_of(const std::string& path) {
    static std::map<std::string, Source> known;
    const auto [entry, is_new] = known.try_emplace(path);
    if (!is_new) return entry->second;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        entry->second.names_avx512 |= line.find("__AVX512") != std::string::npos;
        if (std::string header = lockstep::included(line); !header.empty())
            entry->second.headers.push_back(std::move(header));
    }
    return entry->second;
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
        const Source& source = source_of(file);
        if (source.names_avx512) checks[file] = command;
        for (const std::string& header : source.headers)
            if (source_of(lockstep::source_path(header)).names_avx512)
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
