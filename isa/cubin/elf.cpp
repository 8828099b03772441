// SPDX-License-Identifier: Apache-2.0
// ELF64, little-endian, as nvcc writes cubins and gcc writes host programs. Only the section table
// is read; program headers say nothing more about these files. Everything is checked against the
// file's size before it is used, as the input may be hostile. Source: System V ABI, chapters 4, 5.
#include "isa/cubin/elf.h"

#include <algorithm>

namespace lockstep::cubin::elf {

namespace {
constexpr uint64_t kHeaderSize = 64, kSectionHeaderSize = 64;

// Relocatable cubins have types of their own for .nv.global, .nv.local and .nv.shared.
constexpr uint32_t kCudaGlobal = 0x70000007, kCudaLocal = 0x70000009, kCudaShared = 0x7000000a;

bool type_has_bytes(uint32_t type, uint16_t machine) {
    if (type == 0 || type == kSectionNoBits) return false;
    return machine != kMachineCuda ||
           (type != kCudaGlobal && type != kCudaLocal && type != kCudaShared);
}
}  // namespace

bool is_elf(std::span<const uint8_t> bytes) {
    static constexpr uint8_t kMagic[4] = {0x7f, 'E', 'L', 'F'};
    return bytes.size() >= 4 && std::equal(kMagic, kMagic + 4, bytes.begin());
}

File::File(std::span<const uint8_t> bytes, std::string_view file_name, std::string_view what)
    : reader_(bytes, file_name) {
    if (!is_elf(bytes)) reader_.fail(0, fmt::format("no ELF header: this is no {}", what));
    header_.elf_class = reader_.u8(4, "ELF class");
    if (header_.elf_class == 1)
        reader_.fail(4, fmt::format("a 32-bit {}; only 64-bit ones are supported", what));
    if (header_.elf_class != 2)
        reader_.fail(4, fmt::format("unknown ELF class {}", header_.elf_class));
    if (reader_.u8(5, "ELF byte order") != 1)
        reader_.fail(5, fmt::format("not a little-endian {}", what));
    reader_.bytes(0, kHeaderSize, "ELF header");
    header_.os_abi = reader_.u8(7, "ELF header");
    header_.abi_version = reader_.u8(8, "ELF header");
    header_.type = reader_.u16(16, "ELF header");
    header_.machine = reader_.u16(18, "ELF header");
    header_.flags = reader_.u32(48, "ELF header");
    read_sections();
}

void File::read_sections() {
    const uint64_t table = reader_.u64(40, "ELF header");
    uint64_t count = reader_.u16(60, "ELF header");
    uint64_t names_index = reader_.u16(62, "ELF header");
    if (table == 0) return;  // no sections, as a stripped program may have it
    if (reader_.u16(58, "ELF header") != kSectionHeaderSize)
        reader_.fail(58, fmt::format("section header size is not {}", kSectionHeaderSize));
    // Row 0 holds what does not fit into the header's 16-bit fields.
    if (count == 0) {
        reader_.bytes(table, kSectionHeaderSize, "section header 0");
        count = reader_.u64(table + 32, "section header 0");
    }
    if (names_index == 0xffff) {
        reader_.bytes(table, kSectionHeaderSize, "section header 0");
        names_index = reader_.u32(table + 40, "section header 0");
    }
    if (count > reader_.size() / kSectionHeaderSize)
        reader_.fail(table, fmt::format("{} section headers do not fit into the file", count));
    reader_.bytes(table, count * kSectionHeaderSize, "section header table");

    std::vector<uint32_t> name_offsets;
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t at = table + i * kSectionHeaderSize;
        const auto u32 = [&](uint64_t field) { return reader_.u32(at + field, "section header"); };
        const auto u64 = [&](uint64_t field) { return reader_.u64(at + field, "section header"); };
        SectionHeader section{{},      u32(4),  u64(8),  u64(16), u64(24), u64(32),
                              u32(40), u32(44), u64(48), u64(56), at,      false};
        name_offsets.push_back(u32(0));
        // Row 0 is no section; the size of one without bytes says nothing about the file.
        if (i == 0 || section.type == 0) {
            section.type = 0;
            section.size = 0;
        }
        section.has_bytes = type_has_bytes(section.type, header_.machine);
        if (section.has_bytes &&
            (section.offset > reader_.size() || section.size > reader_.size() - section.offset))
            reader_.fail(at, fmt::format("section {} ({} bytes at {:#x}) lies outside of the file",
                                         i, section.size, section.offset));
        sections_.push_back(section);
    }
    if (count == 0 || names_index == 0) return;
    if (names_index >= count)
        reader_.fail(62, fmt::format("section name table {} of {} sections", names_index, count));
    const Reader names = contents(sections_[names_index]);
    for (uint64_t i = 1; i < count; ++i)
        if (sections_[i].type != 0)
            sections_[i].name = names.string(name_offsets[i], "section name");
}

Reader File::contents(const SectionHeader& section) const {
    if (!section.has_bytes) return Reader({}, reader_.file_name(), section.offset);
    return Reader(reader_.bytes(section.offset, section.size, "section"), reader_.file_name(),
                  section.offset);
}

Reader File::linked(const SectionHeader& section, uint32_t type, std::string_view what) const {
    if (section.link == 0 || section.link >= sections_.size() ||
        sections_[section.link].type != type)
        reader_.fail(section.header_offset,
                     fmt::format("section {} names section {} as its {}, which is none",
                                 section.name, section.link, what));
    return contents(sections_[section.link]);
}

}  // namespace lockstep::cubin::elf
