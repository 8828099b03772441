// SPDX-License-Identifier: Apache-2.0
// What the reader says of real cubins, against the sources and against what the compilers reported:
// registers, stack, shared memory and constant banks are those that `ptxas -v` (13.0) and
// `cuobjdump -res-usage` (11.8) printed.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "isa/cubin/cubin.h"
#include "sim/error/error.h"
#include "tests/isa/cubin/test_data.h"

namespace lockstep::cubin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Cubin load(const std::string& name) {
    return parse(read_data(name), name);
}

const Function& function(const Cubin& cubin, const std::string& name) {
    const Function* found = cubin.find_function(name);
    if (found == nullptr) throw InputError("no function " + name);
    return *found;
}

struct Resources {
    uint32_t registers, stack, shared, constant0, barriers;
};

void expect_resources(const Cubin& cubin, const std::map<std::string, Resources>& expected) {
    EXPECT_EQ(cubin.functions.size(), expected.size());
    for (const auto& [name, resources] : expected) {
        const Function& f = function(cubin, name);
        EXPECT_TRUE(f.is_kernel) << name;
        EXPECT_EQ(f.registers, resources.registers) << name;
        EXPECT_EQ(f.local_bytes, resources.stack) << name;
        EXPECT_EQ(f.shared_bytes - f.reserved_shared_bytes, resources.shared) << name;
        EXPECT_EQ(f.constant0.size(), resources.constant0) << name;
        EXPECT_EQ(f.barriers, resources.barriers) << name;
        EXPECT_EQ(f.parameter_base + f.parameter_bytes, f.constant0.size()) << name;
        EXPECT_EQ(f.code.size() % 128, 0u) << name;
        EXPECT_FALSE(f.exit_offsets.empty()) << name;
    }
}

TEST(Cubin, ResourcesOfSm80) {
    const Cubin cubin = load("zoo_sm80.cubin");
    EXPECT_EQ(cubin.arch, 80);
    EXPECT_EQ(cubin.elf_abi, 8);
    EXPECT_FALSE(cubin.relocatable);
    expect_resources(cubin, {{"plain", {10, 0, 0, 372, 0}},
                             {"shared", {14, 0, 400, 360, 1}},
                             {"printing", {24, 8, 0, 356, 0}},
                             {"heap", {24, 0, 0, 360, 0}},
                             {"recursion", {24, 0, 0, 364, 0}},
                             {"indirect", {24, 0, 0, 364, 0}},
                             {"virtuals", {24, 40, 0, 364, 0}},
                             {"big", {8, 0, 0, 1576, 0}},
                             {"local", {29, 80, 0, 360, 0}},
                             {"switcher", {8, 0, 0, 364, 1}}});
}

TEST(Cubin, ResourcesOfSm90) {
    const Cubin cubin = load("zoo_sm90.cubin");
    EXPECT_EQ(cubin.arch, 90);
    expect_resources(cubin, {{"plain", {10, 0, 0, 0x210 + 20, 0}},
                             {"shared", {12, 0, 400, 0x210 + 8, 1}},
                             {"printing", {24, 8, 0, 0x210 + 4, 0}},
                             {"heap", {24, 0, 0, 0x210 + 8, 0}},
                             {"recursion", {24, 0, 0, 0x210 + 12, 0}},
                             {"indirect", {24, 0, 0, 0x210 + 12, 0}},
                             {"virtuals", {24, 40, 0, 0x210 + 12, 0}},
                             {"big", {8, 0, 0, 0x210 + 1224, 0}},
                             {"local", {29, 80, 0, 0x210 + 8, 0}},
                             {"switcher", {8, 0, 0, 0x210 + 12, 1}},
                             {"clustered", {12, 0, 0, 0x210 + 8, 0}}});
    EXPECT_EQ(function(cubin, "shared").reserved_shared_bytes, 1024u);
}

TEST(Cubin, ResourcesOfSm70FromCuda11) {
    const Cubin cubin = load("zoo_sm70_cuda11.cubin");
    EXPECT_EQ(cubin.arch, 70);
    EXPECT_EQ(cubin.elf_abi, 7);
    expect_resources(cubin, {{"plain", {10, 0, 0, 372, 0}},
                             {"shared", {14, 0, 400, 360, 1}},
                             {"printing", {24, 8, 0, 356, 0}},
                             {"heap", {24, 0, 0, 360, 0}},
                             {"recursion", {24, 0, 0, 364, 0}},
                             {"indirect", {24, 0, 0, 364, 0}},
                             {"virtuals", {24, 40, 0, 364, 0}},
                             {"big", {8, 0, 0, 1576, 0}},
                             {"local", {30, 80, 0, 360, 0}},
                             {"switcher", {8, 0, 0, 364, 1}}});
}

TEST(Cubin, ParametersHaveTheirNaturalPlaces) {
    for (const char* name : {"zoo_sm70_cuda11.cubin", "zoo_sm75.cubin", "zoo_sm90.cubin"}) {
        const Cubin cubin = load(name);
        const Function& f = function(cubin, "big");
        std::vector<std::pair<uint32_t, uint32_t>> parameters;
        for (const Parameter& p : f.parameters) parameters.emplace_back(p.offset, p.size);
        EXPECT_THAT(parameters,
                    ElementsAre(std::pair(0, 1200), std::pair(1200, 4), std::pair(1204, 1),
                                std::pair(1208, 8), std::pair(1216, 8)));
        EXPECT_EQ(f.parameter_base, cubin.arch >= 90 ? 0x210u : 0x160u);
    }
}

TEST(Cubin, LaunchBoundsAndClusters) {
    const Cubin cubin = load("zoo_sm90.cubin");
    EXPECT_THAT(function(cubin, "shared").max_threads, ElementsAre(128, 1, 1));
    EXPECT_THAT(function(cubin, "plain").max_threads, ElementsAre(0, 0, 0));
    EXPECT_THAT(function(cubin, "clustered").cluster, ElementsAre(2, 1, 1));
    EXPECT_TRUE(function(cubin, "clustered").explicit_cluster);
    EXPECT_FALSE(function(cubin, "plain").explicit_cluster);
}

TEST(Cubin, LargeParametersAndNone) {
    const Cubin cubin = load("launch_sm90.cubin");
    const Function& large = function(cubin, "large");
    ASSERT_EQ(large.parameters.size(), 2u);
    EXPECT_EQ(large.parameters[0].size, 20000u);
    EXPECT_EQ(large.parameters[1].offset, 20000u);
    EXPECT_EQ(large.parameters[1].size, 8u);
    EXPECT_EQ(large.parameter_bytes, 20008u);
    const Function& nothing = function(cubin, "nothing");
    EXPECT_TRUE(nothing.parameters.empty());
    EXPECT_EQ(nothing.parameter_base, 0x210u);
    EXPECT_THAT(function(cubin, "blocks").required_threads, ElementsAre(64, 1, 1));
    EXPECT_TRUE(function(cubin, "blocks").blocks_are_clusters);
}

TEST(Cubin, DebugBuild) {
    const Cubin cubin = load("debug_sm75.cubin");
    EXPECT_EQ(function(cubin, "dynamic").parameters.size(), 1u);
    for (const Relocation& r : cubin.relocations) {
        const Section& section = cubin.sections[r.section];
        EXPECT_TRUE(section.kind != SectionKind::kDebug || section.name == ".debug_line");
    }
}

TEST(Cubin, StacksOfUnknownDepth) {
    for (const char* name : {"zoo_sm70_cuda11.cubin", "zoo_sm80.cubin", "zoo_sm90.cubin"}) {
        const Cubin cubin = load(name);
        EXPECT_TRUE(function(cubin, "recursion").unbounded_stack) << name;
        EXPECT_FALSE(function(cubin, "local").unbounded_stack) << name;
        EXPECT_FALSE(function(cubin, "plain").unbounded_stack) << name;
    }
}

TEST(Cubin, ConstantBanks) {
    const Cubin cubin = load("zoo_sm80.cubin");
    const Function& f = function(cubin, "switcher");
    std::map<uint32_t, size_t> sizes;
    for (const ConstantBank& bank : f.constant_banks)
        sizes[bank.bank] = cubin.sections[bank.section].bytes.size();
    EXPECT_EQ(sizes[2], 56u);  // ptxas: 56 bytes cmem[2]
    EXPECT_EQ(sizes[3], 48u);  // coefficients and zero_constants
    EXPECT_TRUE(sizes.contains(4));
    EXPECT_FALSE(sizes.contains(0));
    // The float coefficients 1, 2, 3, 4 start bank 3.
    const Symbol* symbol = cubin.find_symbol("coefficients");
    ASSERT_NE(symbol, nullptr);
    EXPECT_EQ(symbol->kind, SymbolKind::kConstant);
    const Section& bank3 = cubin.sections[symbol->section];
    float values[4];
    std::memcpy(values, bank3.bytes.data() + symbol->offset, sizeof(values));
    EXPECT_THAT(values, ElementsAre(1, 2, 3, 4));
}

TEST(Cubin, GlobalsAndTheirInitialisers) {
    const Cubin cubin = load("zoo_sm90.cubin");
    const Symbol* counter = cubin.find_symbol("counter");
    ASSERT_NE(counter, nullptr);
    EXPECT_EQ(counter->kind, SymbolKind::kGlobal);
    EXPECT_EQ(counter->size, 4u);
    EXPECT_EQ(cubin.sections[counter->section].kind, SectionKind::kGlobal);
    EXPECT_TRUE(cubin.sections[counter->section].bytes.empty());
    const Symbol* table = cubin.find_symbol("table");
    ASSERT_NE(table, nullptr);
    const Section& section = cubin.sections[table->section];
    EXPECT_EQ(section.kind, SectionKind::kGlobalInit);
    int values[4];
    std::memcpy(values, section.bytes.data() + table->offset, sizeof(values));
    EXPECT_THAT(values, ElementsAre(5, 6, 7, 8));
    EXPECT_FALSE(table->is_managed);
    EXPECT_TRUE(cubin.find_symbol("managed_array")->is_managed);
}

TEST(Cubin, InitialiserThatPointsAtAVariable) {
    for (const char* name : {"zoo_sm70_cuda11.cubin", "zoo_sm75.cubin", "zoo_sm90.cubin"}) {
        const Cubin cubin = load(name);
        const Symbol* pointer = cubin.find_symbol("pointer");
        const auto found = std::find_if(
            cubin.relocations.begin(), cubin.relocations.end(), [&](const Relocation& r) {
                return r.section == pointer->section && r.offset == pointer->offset;
            });
        ASSERT_NE(found, cubin.relocations.end()) << name;
        EXPECT_EQ(found->kind, RelocationKind::kG64);
        EXPECT_EQ(cubin.symbols[found->symbol].name, "table");
        EXPECT_EQ(found->addend, 8);
    }
}

TEST(Cubin, SystemFunctions) {
    for (const char* name : {"zoo_sm70_cuda11.cubin", "zoo_sm90.cubin"}) {
        const Cubin cubin = load(name);
        for (const char* callee : {"vprintf", "malloc", "free", "__assertfail"}) {
            const Symbol* symbol = cubin.find_symbol(callee);
            ASSERT_NE(symbol, nullptr) << callee;
            EXPECT_EQ(symbol->kind, SymbolKind::kUndefined);
            EXPECT_TRUE(symbol->is_function);
        }
    }
    EXPECT_EQ(function(load("zoo_sm90.cubin"), "heap").syscall_offsets.size(), 2u);
}

TEST(Cubin, IndirectBranchTargets) {
    const Cubin cubin = load("zoo_sm80.cubin");
    const Function& f = function(cubin, "switcher");
    ASSERT_FALSE(f.indirect_branches.empty());
    ASSERT_EQ(f.indirect_branches.size(), f.indirect_branch_targets.size());
    for (const auto& targets : f.indirect_branch_targets) {
        EXPECT_GE(targets.size(), 2u);
        for (uint32_t target : targets) EXPECT_LT(target, f.code.size());
    }
}

TEST(Cubin, LinkedProgramKeepsItsFunctionsApart) {
    const Cubin cubin = load("linked_sm80.cubin");
    EXPECT_TRUE(function(cubin, "caller").is_kernel);
    const Function& helper = function(cubin, "_Z6helperi");
    EXPECT_FALSE(helper.is_kernel);
    EXPECT_EQ(helper.parameter_bytes, 0u);
    // int fixed[32] of the kernel, int shared[4] of the function it calls.
    EXPECT_EQ(function(cubin, "caller").shared_bytes, 128u + 16u);
    std::map<RelocationKind, int> kinds;
    for (const Relocation& r : cubin.relocations) ++kinds[r.kind];
    EXPECT_EQ(kinds[RelocationKind::kAbs47_34], 3);  // helper, local_helper, vprintf
    EXPECT_EQ(kinds[RelocationKind::k64], 1);        // function_pointer = helper
    EXPECT_EQ(kinds[RelocationKind::kAbs32Lo32], kinds[RelocationKind::kAbs32Hi32]);
}

TEST(Cubin, RelocatableObjects) {
    for (const char* name : {"caller_sm80_object.cubin", "caller_sm90_object.cubin",
                             "callee_sm90_object.cubin", "zoo_sm70_cuda11_object.cubin"}) {
        const Cubin cubin = load(name);
        EXPECT_TRUE(cubin.relocatable) << name;
        for (const Relocation& r : cubin.relocations)
            EXPECT_NE(value_kind(r.kind), RelocationValue::kUnsupported) << cubin::name(r.kind);
    }
}

TEST(Cubin, SymbolIndicesAreTheFilesOwn) {
    const Cubin cubin = load("zoo_sm90.cubin");
    for (const Function& f : cubin.functions) {
        EXPECT_EQ(cubin.symbols[f.symbol].name, f.name);
        EXPECT_EQ(cubin.symbols[f.symbol].section, f.section);
        EXPECT_EQ(cubin.sections[f.section].name, ".text." + f.name);
        EXPECT_TRUE(cubin.sections[f.section].bytes.empty());
    }
}

TEST(Cubin, ErrorsNameFileOffsetAndReason) {
    std::vector<uint8_t> bytes = read_data("tiny_sm90.cubin");
    const auto message = [&] {
        try {
            parse(bytes, "x.cubin");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    bytes[49] = 61;
    EXPECT_THAT(message(), HasSubstr("x.cubin: offset 0x30: code for sm_61 is not supported"));
    bytes[18] = 62;
    EXPECT_THAT(message(), HasSubstr("offset 0x12: not a cubin"));
    bytes[4] = 1;
    EXPECT_THAT(message(), HasSubstr("offset 0x4: a 32-bit cubin"));
    bytes[0] = 0;
    EXPECT_THAT(message(), HasSubstr("offset 0x0: no ELF header"));
}

}  // namespace
}  // namespace lockstep::cubin
