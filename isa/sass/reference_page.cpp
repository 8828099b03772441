// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/reference_page.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "isa/sass/binder.h"
#include "isa/sass/table/table.h"

namespace lockstep::sass {

namespace {

constexpr Arch kArchs[] = {70, 75, 80, 86, 89, 90};
/// In the order of table::Pipe, as sass.table writes them.
constexpr std::string_view kPipes[] = {"alu",          "fma",      "half",    "double", "tensor",
                                       "tensor_async", "variable", "memory",  "tma",    "uniform",
                                       "branch",       "dispatch", "texture", "other"};
static_assert(std::size(kPipes) == static_cast<std::size_t>(table::Pipe::kOther) + 1);

struct Mnemonic {
    std::set<unsigned> opcodes;  ///< bits 0-8
    std::set<std::string_view> pipes;
    unsigned known = 0, executed = 0;  ///< a bit for each of kArchs
};

/// What a row's text begins with, up to its first modifier.
std::string_view name_of(const table::Row& row) {
    const table::Operand& mnemonic = table::operands(row).front();
    std::string_view text = table::text(table::pieces(mnemonic).front().text);
    if (text.starts_with("@")) text.remove_prefix(text.find(' ') + 1);
    return text.substr(0, text.find_first_of(". "));
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string text;
    for (const std::string& part : parts) text.append(text.empty() ? "" : between).append(part);
    return text;
}

/// "all", "-", "75-90" or "70, 80-90": of those that a bit is set for.
std::string archs_text(unsigned bits) {
    if (bits == (1u << std::size(kArchs)) - 1) return "all";
    std::vector<std::string> runs;
    for (std::size_t i = 0; i < std::size(kArchs); ++i) {
        if ((bits >> i & 1) == 0) continue;
        const std::size_t first = i;
        while (i + 1 < std::size(kArchs) && (bits >> (i + 1) & 1) != 0) ++i;
        runs.push_back(std::to_string(kArchs[first]));
        if (i != first) runs.back().append("-").append(std::to_string(kArchs[i]));
    }
    return runs.empty() ? "-" : joined(runs, ", ");
}

}  // namespace

std::string reference_page() {
    std::map<std::string_view, Mnemonic> mnemonics;
    for (const table::Row& row : table::rows()) {
        Mnemonic& mnemonic = mnemonics[name_of(row)];
        mnemonic.opcodes.insert(static_cast<unsigned>(row.value.base_opcode()));
        mnemonic.pipes.insert(kPipes[static_cast<std::size_t>(row.pipe)]);
        for (std::size_t i = 0; i < std::size(kArchs); ++i) {
            if ((row.archs & table::arch_bit(kArchs[i])) == 0) continue;
            mnemonic.known |= 1u << i;
            if (find_bind_entry(row.value, kArchs[i]) != nullptr) mnemonic.executed |= 1u << i;
        }
    }
    std::string page =
        "# SASS instructions\n"
        "Made from isa/sass/table/sass.table and the tables of semantics; do not edit. \"Listed\": "
        "the architectures (sm_70 to sm_90) on which the disassembler knows the mnemonic. "
        "\"Executes\": those on which it has semantics; an instruction without ends the program "
        "with "
        "its address and text when it is reached. A modifier may still be refused so. Opcodes are "
        "bits 0-8 of a word; what the table's columns mean is in [README.md](README.md).\n\n"
        "| mnemonic | opcode | listed | executes | pipe |\n|---|---|---|---|---|\n";
    for (const auto& [name, mnemonic] : mnemonics) {
        std::vector<std::string> opcodes;
        for (const unsigned opcode : mnemonic.opcodes)
            opcodes.push_back(fmt::format("{:03x}", opcode));
        page += fmt::format("| `{}` | {} | {} | {} | {} |\n", name, joined(opcodes, " "),
                            archs_text(mnemonic.known), archs_text(mnemonic.executed),
                            joined({mnemonic.pipes.begin(), mnemonic.pipes.end()}, ", "));
    }
    return page;
}

}  // namespace lockstep::sass
