// SPDX-License-Identifier: Apache-2.0
// README's counts of what is supported. They are taken from the pages that tests hold to the tables
// of the program: CUDA functions, SASS instructions, operators of networks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/page.h"
#include "tests/paths.h"

namespace lockstep {
namespace {

struct Count {
    int supported = 0, all = 0;
};

std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(source_path(path));
    EXPECT_TRUE(file) << path;
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

/// The cells of a row of a table, without the spaces around them.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    if (!line.starts_with("| ")) return cells;
    std::istringstream text(line.substr(1));
    for (std::string cell; std::getline(text, cell, '|');) {
        const std::size_t first = cell.find_first_not_of(' ');
        if (first == std::string::npos) continue;
        cells.push_back(cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
    return cells;
}

/// By title: "Runtime of CUDA 11", ..., "Driver".
std::map<std::string, Count> functions() {
    static const std::regex kCount(R"(^\*\*Implemented: (\d+) of (\d+)\.\*\*)");
    std::map<std::string, Count> counts;
    std::string title;
    for (const std::string& line : lines_of("workloads/cuda_api/functions.md")) {
        if (line.starts_with("## ")) title = line.substr(3);
        std::smatch found;
        if (std::regex_search(line, found, kCount))
            counts[title] = {std::stoi(found[1]), std::stoi(found[2])};
    }
    return counts;
}

/// "all", "90", "75-90", "-".
bool holds(const std::string& architectures, int arch) {
    if (architectures == "all") return true;
    if (architectures == "-") return false;
    const std::size_t dash = architectures.find('-');
    const int first = std::stoi(architectures);
    const int last = dash == std::string::npos ? first : std::stoi(architectures.substr(dash + 1));
    return first <= arch && arch <= last;
}

Count mnemonics(int arch) {
    Count count;
    for (const std::string& line : lines_of("isa/sass/instructions.md")) {
        const std::vector<std::string> cells = cells_of(line);
        if (cells.size() != 5 || !cells[0].starts_with("`")) continue;
        if (!holds(cells[2], arch)) continue;
        ++count.all;
        count.supported += holds(cells[3], arch);
    }
    return count;
}

/// Of the reference, GPUs, tpu_v1 (whose host does what it lacks), tpu_v2 and later.
std::array<Count, 4> operators() {
    std::array<Count, 4> counts;
    for (const std::string& line : lines_of("workloads/network/operators.md")) {
        const std::vector<std::string> cells = cells_of(line);
        if (cells.size() != 5 || cells[0] == "operator" || cells[0].starts_with("-")) continue;
        for (std::size_t machine = 0; machine < counts.size(); ++machine) {
            const std::string& cell = cells[machine + 1];
            ++counts[machine].all;
            counts[machine].supported += !(cell == "no" || cell.starts_with("no:"));
        }
    }
    return counts;
}

std::string text_of(const Count& count) {
    return fmt::format("{} of {}", count.supported, count.all);
}

std::string counts() {
    const std::map<std::string, Count> of = functions();
    EXPECT_EQ(of.size(), 4u);
    std::string text = "| counted in the program's tables | |\n|---|---|\n";
    text += fmt::format(
        "| [functions of CUDA](workloads/cuda_api/functions.md) | runtime: {} (CUDA 11), {} (12), "
        "{} (13); driver: {} |\n",
        text_of(of.at("Runtime of CUDA 11")), text_of(of.at("Runtime of CUDA 12")),
        text_of(of.at("Runtime of CUDA 13")), text_of(of.at("Driver")));
    text += "| [SASS mnemonics](isa/sass/instructions.md) that execute | ";
    for (const int arch : {70, 75, 80, 86, 89, 90}) {
        const Count count = mnemonics(arch);
        EXPECT_GT(count.supported, 50) << arch;  // the page was read
        text += fmt::format("{}sm_{}: {}", arch == 70 ? "" : ", ", arch, text_of(count));
    }
    const std::array<Count, 4> ops = operators();
    EXPECT_GT(ops[0].all, 100);
    text += fmt::format(
        " |\n| [operators of networks](workloads/network/operators.md) | reference: {}; GPUs: {}; "
        "tpu_v1 with its host: {}; later TPUs: {} |\n",
        text_of(ops[0]), text_of(ops[1]), text_of(ops[2]), text_of(ops[3]));
    return text;
}

TEST(Readme, CountsWhatIsSupported) {
    std::string page;
    for (const std::string& line : lines_of("README.md")) page += line + '\n';
    const std::size_t begin = page.find("| counted in the program's tables |");
    ASSERT_NE(begin, std::string::npos);
    const std::size_t end = page.find("\n\n", begin);
    ASSERT_NE(end, std::string::npos);
    expect_page("README.md", page.substr(0, begin) + counts() + page.substr(end + 1));
}

TEST(Readme, NamesEveryMachine) {
    std::string page;
    for (const std::string& line : lines_of("README.md")) page += line + '\n';
    for (const char* folder :
         {"models/gpu/machines", "models/npu/machines", "models/roofline/machines"}) {
        if (!std::filesystem::exists(source_path(folder))) continue;
        for (const auto& entry : std::filesystem::directory_iterator(source_path(folder)))
            if (entry.path().extension() == ".yaml") {
                const std::string name = entry.path().stem();
                EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name;
            }
    }
}

}  // namespace
}  // namespace lockstep
