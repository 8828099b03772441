// SPDX-License-Identifier: Apache-2.0
// Runs the built program as a user would.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/paths.h"

namespace lockstep::cli {

struct Result {
    int status;
    std::string output;  ///< stdout and stderr
};

inline Result lockstep(const std::string& arguments) {
    const std::string command = binary_path("bin/lockstep ") + arguments + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer;
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        output.append(buffer.data(), count);
    return {WEXITSTATUS(pclose(pipe)), output};
}

/// A path of this process's own.
inline std::string temporary(const std::string& name) {
    return std::filesystem::path(testing::TempDir()) / (std::to_string(getpid()) + name);
}

}  // namespace lockstep::cli
