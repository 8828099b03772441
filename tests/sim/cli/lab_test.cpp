// SPDX-License-Identifier: Apache-2.0
// The lab sheets: what stands behind `$` in a block is run, and ends well; where a machine's
// figures are exact, it prints the lines below it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "run_program.h"
#include "tests/paths.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

struct Command {
    std::string arguments, output;
};

std::vector<Command> commands_of(const std::string& sheet) {
    const std::string prompt = "$ ./lockstep ";
    std::ifstream file(source_path(sheet));
    std::vector<Command> commands;
    bool is_output = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("```")) is_output = false;
        if (line.starts_with(prompt)) {
            commands.push_back({line.substr(prompt.size()), ""});
            is_output = true;
        } else if (is_output) {
            commands.back().output += line + "\n";
        }
    }
    return commands;
}

/// Commands are run in a folder of their own, from which the repository's kernels can be reached.
class Lab : public testing::Test {
  protected:
    Lab() {
        fs::create_directories(folder_);
        fs::create_directory_symlink(source_path("workloads"), folder_ + "/workloads");
        fs::current_path(folder_);
    }
    ~Lab() override {
        fs::current_path(before_);
        fs::remove_all(folder_);
    }

    const fs::path before_ = fs::current_path();
    const std::string folder_ = temporary("_lab");
};

TEST_F(Lab, SystolicArraysPrintWhatTheSheetSays) {
    const std::vector<Command> commands = commands_of("models/tpu/systolic/lab.md");
    EXPECT_GE(commands.size(), 8u);
    for (const Command& command : commands) {
        const Result result = lockstep(command.arguments);
        EXPECT_EQ(result.status, 0) << command.arguments;
        EXPECT_EQ(result.output, command.output) << command.arguments;
    }
}

// Cycles change with the model; products of 512 would take seconds here.
TEST_F(Lab, TensorCoreCommandsRun) {
    const std::vector<Command> commands = commands_of("models/gpu/sm/lab.md");
    EXPECT_GE(commands.size(), 8u);
    for (Command command : commands) {
        for (std::size_t at; (at = command.arguments.find("=512")) != std::string::npos;)
            command.arguments.replace(at, 4, "=64");
        const Result result = lockstep(command.arguments);
        EXPECT_EQ(result.status, 0) << command.arguments << "\n" << result.output;
    }
}

// What the host takes is measured, and not run here.
TEST_F(Lab, CommandsOfOneProductOnEveryMachineRun) {
    const std::vector<Command> commands = commands_of("workloads/openmp/lab.md");
    EXPECT_GE(commands.size(), 6u);
    for (Command command : commands) {
        for (const auto& [large, small] : {std::pair("=512", "=64"), {"=56", "=8"}})
            for (std::size_t at; (at = command.arguments.find(large)) != std::string::npos;)
                command.arguments.replace(at, std::string(large).size(), small);
        const Result result = lockstep(command.arguments);
        EXPECT_EQ(result.status, 0) << command.arguments << "\n" << result.output;
    }
}

TEST_F(Lab, NpuCommandsRun) {
    const std::vector<Command> commands = commands_of("models/npu/lab.md");
    EXPECT_GE(commands.size(), 6u);
    for (const Command& command : commands) {
        const Result result = lockstep(command.arguments);
        EXPECT_EQ(result.status, 0) << command.arguments << "\n" << result.output;
    }
}

}  // namespace
}  // namespace lockstep::cli
