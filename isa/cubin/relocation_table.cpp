// SPDX-License-Identifier: Apache-2.0
// CUDA 13 writes RELA only; older ptxas writes REL where the addend is zero, and for data words
// whose addend then stands in the place itself. Source: System V ABI, chapter 4, "Relocation".
#include "isa/cubin/relocation_table.h"

#include <algorithm>
#include <tuple>

namespace lockstep::cubin {

namespace {

constexpr uint64_t kRelSize = 16, kRelaSize = 24;

std::span<const uint8_t> bytes_of(const Cubin& cubin, const Section& section) {
    if (section.kind == SectionKind::kText && section.function != kNone)
        return cubin.functions[section.function].code;
    return section.bytes;
}

Relocation read_relocation(const Reader& table, uint64_t at, bool rela, uint32_t target_index,
                           const Cubin& cubin) {
    const uint64_t info = table.u64(at + 8, "relocation");
    Relocation relocation{
        target_index, table.u64(at, "relocation"), static_cast<RelocationKind>(info & 0xffffffff),
        static_cast<uint32_t>(info >> 32), rela ? table.read<int64_t>(at + 16, "relocation") : 0};
    if (relocation.symbol >= cubin.symbols.size())
        table.fail(at, fmt::format("relocation names symbol {} of {}", relocation.symbol,
                                   cubin.symbols.size()));
    const Section& target = cubin.sections[target_index];
    const auto bytes = bytes_of(cubin, target);
    if (relocation.offset > bytes.size() ||
        patched_bytes(relocation.kind) > bytes.size() - relocation.offset)
        table.fail(at, fmt::format("relocation at {:#x} lies outside of section {}",
                                   relocation.offset, target.name));
    if (!rela) relocation.addend = addend_in_place(relocation.kind, bytes, relocation.offset);
    return relocation;
}

}  // namespace

std::vector<Relocation> read_relocations(const elf::File& file, const Cubin& cubin) {
    std::vector<Relocation> result;
    for (const elf::SectionHeader& header : file.sections()) {
        const bool rela = header.type == elf::kSectionRela;
        if (!rela && header.type != elf::kSectionRel) continue;
        if (header.info == 0 || header.info >= cubin.sections.size())
            file.reader().fail(header.header_offset,
                               fmt::format("section {} patches section {} of {}", header.name,
                                           header.info, cubin.sections.size()));
        // Of what is not loaded only the line table is read, which is nothing without the functions
        // that its sequences begin at.
        const elf::SectionHeader& target = file.sections()[header.info];
        if ((target.flags & elf::kFlagAlloc) == 0 && target.name != ".debug_line") continue;
        const Reader table = file.contents(header);
        const uint64_t entry = rela ? kRelaSize : kRelSize;
        if (table.size() % entry != 0)
            table.fail(0, fmt::format("section {} has {} bytes, no multiple of {}", header.name,
                                      table.size(), entry));
        for (uint64_t at = 0; at < table.size(); at += entry)
            result.push_back(read_relocation(table, at, rela, header.info, cubin));
    }
    std::stable_sort(result.begin(), result.end(), [](const Relocation& a, const Relocation& b) {
        return std::tie(a.section, a.offset) < std::tie(b.section, b.offset);
    });
    return result;
}

}  // namespace lockstep::cubin
