// SPDX-License-Identifier: Apache-2.0
// Host programs, made by hand so that each has exactly one property.
#include <gmock/gmock.h>

#include "isa/cubin/executable.h"
#include "isa/cubin/fatbin.h"
#include "sim/error/error.h"
#include "tests/isa/cubin/elf_builder.h"
#include "tests/isa/cubin/test_data.h"

namespace lockstep::cubin {
namespace {

using testing::HasSubstr;

constexpr uint16_t kExecutable = 2, kShared = 3, kObject = 1, kX86 = 62, kArm = 183;

std::vector<uint8_t> bytes(std::string_view text) {
    return {text.begin(), text.end()};
}

/// A dynamically linked program that asks for `library`.
ElfBuilder program(const std::string& library, uint16_t type = kShared, uint16_t machine = kX86) {
    using namespace std::string_literals;
    ElfBuilder elf(type, machine);
    const uint32_t names = elf.add(".dynstr", 3, bytes("\0"s + library + "\0"s));
    std::vector<uint8_t> dynamic(32, 0);
    ElfBuilder::put(dynamic, 0, int64_t{1});
    ElfBuilder::put(dynamic, 8, uint64_t{1});
    elf.add(".dynamic", 6, dynamic, names);
    return elf;
}

std::string refusal(const std::vector<uint8_t>& file) {
    try {
        check_runnable(file, "app");
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(Executable, ProgramsWithoutADynamicLinkerAreRefused) {
    EXPECT_THAT(refusal(ElfBuilder(kExecutable, kX86).build()), HasSubstr("without -static"));
}

TEST(Executable, DynamicProgramsAreAccepted) {
    for (const char* library : {"libcudart.so.11.0", "libcudart.so.13", "libmine.so"})
        EXPECT_EQ(refusal(program(library).build()), "");
}

TEST(Executable, OtherMachinesAndObjectsAreRefused) {
    EXPECT_THAT(refusal(program("libcudart.so.13", kShared, kArm).build()),
                HasSubstr("ELF machine 183"));
    EXPECT_THAT(refusal(program("libcudart.so.13", kObject).build()), HasSubstr("object file"));
    std::vector<uint8_t> file = program("libcudart.so.13").build();
    file[4] = 1;
    EXPECT_THAT(refusal(file), HasSubstr("32-bit"));
    EXPECT_THAT(refusal(bytes("#!/bin/sh")), HasSubstr("offset 0x0"));
}

TEST(Executable, FindsTheFatbins) {
    const std::vector<uint8_t> fatbin = read_data("tiny_size.fatbin");
    ElfBuilder elf = program("libcudart.so.13");
    elf.add(".nv_fatbin", 1, fatbin);
    elf.add("__nv_relfatbin", 1, fatbin);
    elf.add(".nvFatBinSegment", 1, std::vector<uint8_t>(24));
    const std::vector<uint8_t> file = elf.build();
    const auto found = find_fatbins(file, "app");
    ASSERT_EQ(found.size(), 2u);
    for (const EmbeddedFatbin& embedded : found) {
        EXPECT_EQ(embedded.bytes.data(), file.data() + embedded.file_offset);
        EXPECT_EQ(parse_fatbin(embedded.bytes, "app", embedded.file_offset).size(), 4u);
    }
    EXPECT_TRUE(find_fatbins(program("libc.so.6").build(), "app").empty());
}

TEST(Executable, FindsFatbinsAmongOtherData) {
    const std::vector<uint8_t> fatbin = read_data("tiny_size.fatbin");
    ElfBuilder elf(kShared, kX86);
    // Sections start behind the 64 bytes of the ELF header.
    std::vector<uint8_t> data(40, 0xff);
    data.insert(data.end(), fatbin.begin(), fatbin.end());
    data.insert(data.end(), fatbin.begin(), fatbin.end());
    elf.add(".data", 1, data, 0, ElfBuilder::kAlloc);
    const std::vector<uint8_t> file = elf.build();
    const auto found = find_fatbins(file, "app");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].file_offset, 64u + 40);
    EXPECT_EQ(found[1].file_offset, 64u + 40 + fatbin.size());
    EXPECT_EQ(found[1].bytes.size(), fatbin.size());
    // The last one cut short.
    std::vector<uint8_t> cut(data.begin(), data.end() - 8);
    ElfBuilder damaged(kShared, kX86);
    damaged.add(".data", 1, cut, 0, ElfBuilder::kAlloc);
    EXPECT_THROW(find_fatbins(damaged.build(), "app"), InputError);
}

TEST(Executable, IdentifiesFilesByTheirContents) {
    EXPECT_EQ(identify(read_data("tiny_sm90.cubin")), FileKind::kCubin);
    EXPECT_EQ(identify(read_data("zoo_sm70_cuda11.cubin")), FileKind::kCubin);
    EXPECT_EQ(identify(read_data("tiny_size.fatbin")), FileKind::kFatbin);
    EXPECT_EQ(identify(program("libc.so.6").build()), FileKind::kExecutable);
    EXPECT_EQ(identify(bytes("// comment\n.version 7.8\n.target sm_80\n")), FileKind::kPtx);
    EXPECT_EQ(identify(bytes("#!/bin/sh\n")), FileKind::kUnknown);
    EXPECT_EQ(identify(std::vector<uint8_t>()), FileKind::kUnknown);
}

}  // namespace
}  // namespace lockstep::cubin
