// SPDX-License-Identifier: Apache-2.0
// The page of CUDA's functions by state, from the lists of what CUDA's libraries export and the
// libraries that were built: what nobody implements is a weak stub there.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "isa/cubin/elf.h"
#include "tests/page.h"

namespace lockstep::cuda {
namespace {

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Functions that a built library exports with a definition of their own.
std::set<std::string> implemented_in(const std::string& library) {
    constexpr std::uint64_t kSymbolBytes = 24, kInfoOffset = 4;
    constexpr unsigned kGlobal = 1;
    const std::string path = binary_path("lib/cudart/" + library);
    const std::string bytes = contents(path);
    const cubin::elf::File file({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                                path, "library");
    std::set<std::string> names;
    for (const cubin::elf::SectionHeader& section : file.sections()) {
        if (section.type != cubin::elf::kSectionDynamicSymbols) continue;
        const cubin::Reader symbols = file.contents(section);
        const cubin::Reader strings =
            file.linked(section, cubin::elf::kSectionStrings, "symbol names");
        for (std::uint64_t at = 0; at < symbols.size(); at += kSymbolBytes)
            if (symbols.u8(at + kInfoOffset, "symbol") >> 4 == kGlobal)
                names.emplace(strings.string(symbols.u32(at, "symbol"), "symbol name"));
    }
    return names;
}

struct Function {
    std::string name;
    std::string base;  ///< the function that does its work: itself, mostly
    std::vector<std::string> words;
};

/// The rows of a functions.txt. Forms for per-thread default streams are the plain ones.
std::vector<Function> functions_of(const std::string& api) {
    std::istringstream lines(contents(source_path("workloads/cuda_api/" + api + "/functions.txt")));
    std::vector<Function> functions;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        Function function;
        words >> function.name;
        function.base = function.name;
        for (const char* suffix : {"_ptsz", "_ptds"})
            if (function.base.ends_with(suffix)) function.base.erase(function.base.size() - 5);
        for (std::string word; words >> word;)
            if (word.front() == '=')
                function.base = word.substr(1);
            else
                function.words.push_back(word);
        functions.push_back(std::move(function));
    }
    return functions;
}

/// A table of names in columns would hide them from a search: one line, in the order of the
/// alphabet.
std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
    return text.empty() ? "None." : text + ".";
}

struct States {
    std::vector<std::string> implemented, missing;
};

std::string section_of(const std::string& title, const States& states) {
    const std::size_t all = states.implemented.size() + states.missing.size();
    return fmt::format("\n## {}\n**Implemented: {} of {}.** {}\n\n**Not implemented: {}.** {}\n",
                       title, states.implemented.size(), all, list_of(states.implemented),
                       states.missing.size(), list_of(states.missing));
}

TEST(CudaFunctions, ThePageSaysWhichWork) {
    std::string page =
        "# CUDA functions by state\n"
        "Made from the lists of what CUDA's libraries export (`*/functions.txt`) and the libraries "
        "that are built; do not edit. A program that calls a function that is not implemented ends "
        "with the function's name (exit 3). Forms for per-thread default streams (`_ptsz`, "
        "`_ptds`) "
        "and other names of the same function are not listed apart.\n";

    const std::pair<const char*, const char*> runtimes[] = {
        {"11", "libcudart.so.11.0"}, {"12", "libcudart.so.12"}, {"13", "libcudart.so.13"}};
    for (const auto& [version, library] : runtimes) {
        const std::set<std::string> implemented = implemented_in(library);
        States states;
        for (const Function& function : functions_of("runtime")) {
            if (function.base != function.name ||
                std::ranges::find(function.words, version) == function.words.end())
                continue;
            (implemented.contains(function.name) ? states.implemented : states.missing)
                .push_back(function.name);
        }
        EXPECT_GT(states.implemented.size(), 200u) << library;
        page += section_of(fmt::format("Runtime of CUDA {}", version), states);
    }

    const std::set<std::string> implemented = implemented_in("libcuda.so.1");
    States states;
    for (const Function& function : functions_of("driver"))
        if (function.base == function.name)
            (implemented.contains(function.name) ? states.implemented : states.missing)
                .push_back(function.name);
    EXPECT_GT(states.implemented.size(), 50u);
    page += section_of("Driver", states);
    expect_page("workloads/cuda_api/functions.md", page);
}

}  // namespace
}  // namespace lockstep::cuda
