// SPDX-License-Identifier: Apache-2.0
// The lab sheets: what stands behind `$` in a block is run, and ends well; where a machine's
// figures are exact, it prints the lines below it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run_program.h"
#include "tests/paths.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrompt = "$ ./lockstep ";
constexpr const char* kTensorCores = "models/gpu/sm/lab.md";

struct Command {
    std::string arguments, output;
};

std::vector<Command> commands_of(const std::string& sheet) {
    std::ifstream file(source_path(sheet));
    std::vector<Command> commands;
    bool is_output = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("```")) is_output = false;
        if (line.starts_with(kPrompt)) {
            commands.push_back({line.substr(kPrompt.size()), ""});
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

    /// The line with what its runs give now. A figure is a number of cycles with the run in a
    /// comment behind it; in a row of a table, the products a cycle and SM and their share of the
    /// peak follow.
    std::string with_figures(const std::string& line);

    int figures_ = 0;
    std::map<std::string, std::uint64_t> cycles_;  ///< by run
    const fs::path before_ = fs::current_path();
    const std::string folder_ = temporary("_lab");
};

std::string with_commas(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
}

/// The value of `name=` in a run's arguments.
double argument(const std::string& run, const std::string& name) {
    const std::size_t at = run.find(name + "=");
    return at == std::string::npos ? 0 : std::stod(run.substr(at + name.size() + 1));
}

std::string Lab::with_figures(const std::string& line) {
    static const std::regex kFigure("[0-9,]+<!-- (.*?) -->");
    static const std::regex kRates(" \\| [0-9]+ \\| [0-9]+ % of ([0-9]+) \\|");
    std::string result;
    std::sregex_iterator figure(line.begin(), line.end(), kFigure);
    if (figure == std::sregex_iterator()) return line;
    std::string rest = line, run;
    std::uint64_t cycles = 0;
    for (; figure != std::sregex_iterator(); ++figure) {
        run = (*figure)[1];
        if (!cycles_.contains(run)) {
            const Result done = lockstep("run " + run + " --quiet --stats figures.json");
            EXPECT_EQ(done.status, 0) << run << "\n" << done.output;
            cycles_[run] = nlohmann::json::parse(std::ifstream("figures.json"))["totals"]["cycles"];
        }
        cycles = cycles_[run];
        ++figures_;
        result += figure->prefix();
        result += with_commas(cycles) + "<!-- " + run + " -->";
        rest = figure->suffix();
    }
    std::smatch rates;
    if (line.starts_with("|") && std::regex_search(rest, rates, kRates)) {
        const double rate = argument(run, "m") * argument(run, "n") * argument(run, "k") /
                            (static_cast<double>(cycles) * argument(run, "sm.count"));
        const double peak = std::stod(rates[1]);
        rest = rates.prefix().str() +
               fmt::format(" | {:.0f} | {:.0f} % of {:.0f} |", rate, 100 * rate / peak, peak) +
               rates.suffix().str();
    }
    return result + rest;
}

TEST_F(Lab, SystolicArraysPrintWhatTheSheetSays) {
    const std::vector<Command> commands = commands_of("models/tpu/systolic/lab.md");
    EXPECT_GE(commands.size(), 8u);
    for (const Command& command : commands) {
        const Result result = lockstep(command.arguments);
        EXPECT_EQ(result.status, 0) << command.arguments;
        EXPECT_EQ(result.output, command.output) << command.arguments;
    }
}

// The products of 512 take seconds; those that the sheet has figures of, the next test runs.
TEST_F(Lab, TensorCoreCommandsRun) {
    const std::vector<Command> commands = commands_of(kTensorCores);
    EXPECT_GE(commands.size(), 8u);
    for (Command command : commands) {
        for (std::size_t at; (at = command.arguments.find("=512")) != std::string::npos;)
            command.arguments.replace(at, 4, "=64");
        const Result result = lockstep(command.arguments);
        EXPECT_EQ(result.status, 0) << command.arguments << "\n" << result.output;
    }
}

// Cycles change with the model: LOCKSTEP_REWRITE_LABS=1 has this test write the sheet anew.
TEST_F(Lab, TensorCoreFiguresAreTheModels) {
    std::ifstream file(source_path(kTensorCores));
    std::vector<std::string> sheet, now;
    for (std::string line; std::getline(file, line);) sheet.push_back(line);
    for (std::size_t i = 0; i < sheet.size(); ++i) {
        now.push_back(with_figures(sheet[i]));
        if (!sheet[i].starts_with(kPrompt)) continue;
        // What a command prints, as far as the sheet shows it.
        std::istringstream output;
        bool has_run = false;
        for (; i + 1 < sheet.size() && !sheet[i + 1].starts_with("```") &&
               !sheet[i + 1].starts_with(kPrompt);
             ++i) {
            if (!std::exchange(has_run, true))
                output.str(lockstep(now.back().substr(kPrompt.size())).output);
            now.emplace_back();
            std::getline(output, now.back());
        }
        std::string rest;
        EXPECT_FALSE(has_run && std::getline(output, rest)) << "printed, and not shown: " << rest;
    }
    ASSERT_GE(figures_, 10);
    if (std::getenv("LOCKSTEP_REWRITE_LABS") != nullptr) {
        std::ofstream out(source_path(kTensorCores));
        for (const std::string& line : now) out << line << "\n";
        ASSERT_TRUE(out.good());
        return;
    }
    for (std::size_t i = 0; i < sheet.size(); ++i)
        EXPECT_EQ(now[i], sheet[i])
            << kTensorCores << ":" << i + 1
            << ": to write the sheet anew: LOCKSTEP_REWRITE_LABS=1 "
               "build/tests/sim/cli/test_sim_cli --gtest_filter=Lab.TensorCoreFigures*";
}

}  // namespace
}  // namespace lockstep::cli
