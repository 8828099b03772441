// SPDX-License-Identifier: Apache-2.0
// The ELF64 container of cubins and of host programs: header and section table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isa/cubin/reader.h"

namespace lockstep::cubin::elf {

inline constexpr uint16_t kMachineX86_64 = 62;
inline constexpr uint16_t kMachineCuda = 190;

inline constexpr uint32_t kSectionSymbols = 2, kSectionStrings = 3, kSectionRela = 4,
                          kSectionNoBits = 8, kSectionRel = 9, kSectionDynamicSymbols = 11,
                          kSectionSymbolIndices = 18;
inline constexpr uint64_t kFlagAlloc = 2, kFlagExecute = 4;

/// One row of the section table; name points into the file.
struct SectionHeader {
    std::string_view name;
    uint32_t type;
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t alignment, entry_size;
    uint64_t header_offset;  ///< of this row in the file, for messages
    bool has_bytes;          ///< false: it has a size in memory only
};

struct Header {
    uint8_t elf_class, os_abi, abi_version;
    uint16_t type, machine;
    uint32_t flags;
};

/// A validated ELF64 file: every section that has bytes lies inside of it.
class File {
  public:
    /// Throws InputError. `what` is what the file was expected to be ("cubin", "executable").
    File(std::span<const uint8_t> bytes, std::string_view file_name, std::string_view what);

    const Header& header() const { return header_; }
    const std::vector<SectionHeader>& sections() const { return sections_; }
    const Reader& reader() const { return reader_; }

    /// Contents of a section (empty for NOBITS).
    Reader contents(const SectionHeader& section) const;
    /// Contents of the section that `section` links to, which must be of `type`.
    Reader linked(const SectionHeader& section, uint32_t type, std::string_view what) const;

  private:
    void read_sections();

    Reader reader_;
    Header header_{};
    std::vector<SectionHeader> sections_;
};

/// True where bytes start with the ELF magic.
bool is_elf(std::span<const uint8_t> bytes);

}  // namespace lockstep::cubin::elf
