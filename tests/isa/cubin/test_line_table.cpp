// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "isa/cubin/line_table.h"
#include "tests/paths.h"

namespace lockstep::cubin {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Cubin read(const std::string& name) {
    const std::string path = source_path() + "/tests/models/gpu/data/" + name;
    std::ifstream file(path, std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    return parse(bytes, path);
}

/// Lines of the source that hold `text`, counted from 1.
std::vector<std::string> places_of(const std::string& text) {
    std::ifstream file(source_path() + "/tests/models/gpu/data/faults.cu");
    std::vector<std::string> places;
    int number = 0;
    for (std::string line; std::getline(file, line);)
        if (++number; line.find(text) != std::string::npos)
            places.push_back("faults.cu:" + std::to_string(number));
    return places;
}

TEST(LineTable, NamesTheLineOfAnInstruction) {
    for (const char* name : {"faults_sm_80.cubin", "faults_sm_90.cubin"}) {
        const Cubin cubin = read(name);
        const LineTable lines(cubin);
        ASSERT_FALSE(lines.empty());
        const Function& function = *cubin.find_function("shift_in_place");
        const std::vector<std::string> wanted = places_of("x[i] = x[i + 1] + 1;");
        ASSERT_EQ(wanted.size(), 1u);
        bool is_there = false;
        for (std::uint64_t at = 0; at < function.code.size(); at += 16)
            is_there |= lines.find(function.section, at) == wanted[0];
        EXPECT_TRUE(is_there) << name;
        EXPECT_EQ(lines.find(function.section, 1 << 20), "");
        EXPECT_EQ(lines.find(1 << 20, 0), "");
    }
}

TEST(LineTable, IsEmptyWhereTheCubinHasNone) {
    const Cubin cubin = read("ordering_sm_90.cubin");
    const LineTable lines(cubin);
    EXPECT_TRUE(lines.empty());
    EXPECT_EQ(lines.find(cubin.functions[0].section, 0), "");
}

TEST(LineTable, KeepsWhatComesBeforeAnEndTooEarly) {
    Cubin cubin = read("faults_sm_90.cubin");
    const auto section = std::find_if(cubin.sections.begin(), cubin.sections.end(),
                                      [](const Section& s) { return s.name == ".debug_line"; });
    ASSERT_NE(section, cubin.sections.end());
    const std::vector<std::uint8_t> whole = section->bytes;
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 97) {
        section->bytes.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
        const LineTable lines(cubin);
        for (const Function& function : cubin.functions) lines.find(function.section, 0);
    }
}

}  // namespace
}  // namespace lockstep::cubin
