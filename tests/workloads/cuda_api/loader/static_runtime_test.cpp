// SPDX-License-Identifier: Apache-2.0
// Symbol tables made by hand, of each version of CUDA by functions.txt.
#include "workloads/cuda_api/loader/static_runtime.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "sim/error/error.h"
#include "tests/isa/cubin/elf_builder.h"
#include "tests/paths.h"

namespace lockstep::cuda {
namespace {

using cubin::ElfBuilder;
using testing::HasSubstr;

constexpr std::uint16_t kShared = 3, kX86 = 62;
constexpr unsigned kFunction = 2, kObject = 1;

std::vector<std::string> functions_of(const std::string& version) {
    std::ifstream file(std::string(source_path()) + "/workloads/cuda_api/runtime/functions.txt");
    std::vector<std::string> names;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        for (std::string word; words >> word;)
            if (word == version && name[0] != '#') names.push_back(name);
    }
    return names;
}

struct Row {
    std::string name;
    std::uint64_t address;
    unsigned type = kFunction;
    std::uint16_t section = 1;  ///< 0: undefined
};

/// Adds a table of symbols (type 2) or dynamic symbols (type 11).
void add_symbols(ElfBuilder& elf, std::uint32_t type, const std::vector<Row>& rows) {
    std::vector<std::uint8_t> names(1, 0), table(24, 0);
    for (const Row& row : rows) {
        const std::size_t at = table.size();
        table.resize(at + 24);
        ElfBuilder::put(table, at, static_cast<std::uint32_t>(names.size()));
        ElfBuilder::put(table, at + 4, static_cast<std::uint8_t>(row.type));
        ElfBuilder::put(table, at + 6, row.section);
        ElfBuilder::put(table, at + 8, row.address);
        names.insert(names.end(), row.name.begin(), row.name.end());
        names.push_back(0);
    }
    const std::uint32_t strings = elf.add(type == 2 ? ".strtab" : ".dynstr", 3, names);
    elf.add(type == 2 ? ".symtab" : ".dynsym", type, table, strings);
}

std::vector<Row> rows_of(const std::vector<std::string>& names) {
    std::vector<Row> rows;
    for (const std::string& name : names) rows.push_back({name, 0x1000 + 0x20 * rows.size()});
    return rows;
}

RuntimeLinkage linkage_of(const std::vector<Row>& symbols) {
    ElfBuilder elf(kShared, kX86);
    add_symbols(elf, 2, symbols);
    static std::vector<std::uint8_t> file;  // the names point into it
    file = elf.build();
    return examine(file, "app");
}

TEST(StaticRuntime, TheNamesSayTheVersion) {
    for (const char* version : {"11", "12", "13"}) {
        const auto names = functions_of(version);
        const RuntimeLinkage linkage = linkage_of(rows_of(names));
        EXPECT_EQ(linkage.linkage, Linkage::kStatic);
        EXPECT_EQ(linkage.version, std::stoi(version));
        EXPECT_EQ(linkage.entries.size(), names.size());
    }
}

TEST(StaticRuntime, AnOlderMinorVersionLacksSomeNames) {
    for (const char* version : {"11", "12", "13"}) {
        std::vector<std::string> names = functions_of(version);
        std::erase_if(names, [](const std::string& name) {
            return name.find("Graph") != name.npos && name.find("Node") != name.npos;
        });
        EXPECT_EQ(linkage_of(rows_of(names)).version, std::stoi(version));
    }
}

TEST(StaticRuntime, OnlyFunctionsOfTheRuntimeAreEntryPoints) {
    const RuntimeLinkage linkage = linkage_of({{"__cudaRegisterFatBinary", 0x1000},
                                               {"cudaMalloc", 0x1040},
                                               {"cudaFree", 0x1060, kObject},
                                               {"cudaMemcpy", 0, kFunction, 0},
                                               {"cudaOfMine", 0x1080},
                                               {"main", 0x1050}});
    ASSERT_EQ(linkage.entries.size(), 2u);
    EXPECT_EQ(linkage.entries[0].name, "__cudaRegisterFatBinary");
    EXPECT_EQ(linkage.entries[0].room, 0x40u);
    EXPECT_EQ(linkage.entries[1].address, 0x1040u);
    EXPECT_EQ(linkage.entries[1].room, 0x10u);
}

TEST(StaticRuntime, SharedNoneAndStripped) {
    ElfBuilder shared(kShared, kX86);
    shared.add(".nv_fatbin", 1, std::vector<std::uint8_t>(8));
    add_symbols(shared, 11, {{"__cudaRegisterFatBinary", 0, kFunction, 0}});
    EXPECT_EQ(examine(shared.build(), "app").linkage, Linkage::kShared);
    EXPECT_NO_THROW(check_replaceable(shared.build(), "app"));
    EXPECT_EQ(linkage_of({{"main", 0x1000}}).linkage, Linkage::kNone);

    ElfBuilder stripped(kShared, kX86);
    stripped.add(".nv_fatbin", 1, std::vector<std::uint8_t>(8));
    EXPECT_EQ(examine(stripped.build(), "app").linkage, Linkage::kStripped);
    try {
        check_replaceable(stripped.build(), "app");
        FAIL() << "not refused";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("nvcc -cudart shared"));
        EXPECT_THAT(error.what(), HasSubstr("do not strip"));
    }
}

TEST(StaticRuntime, DamagedTablesAreRefused) {
    ElfBuilder elf(kShared, kX86);
    std::vector<std::uint8_t> table(48, 0);
    ElfBuilder::put(table, 24, std::uint32_t{500});
    elf.add(".symtab", 2, table, elf.add(".strtab", 3, {0, 'x', 0}));
    EXPECT_THROW(examine(elf.build(), "app"), InputError);
    ElfBuilder unlinked(kShared, kX86);
    unlinked.add(".symtab", 2, table);
    EXPECT_THROW(examine(unlinked.build(), "app"), InputError);
}

}  // namespace
}  // namespace lockstep::cuda
