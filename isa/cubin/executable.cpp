// SPDX-License-Identifier: Apache-2.0
// nvcc puts the fatbins of a program into the host object's section .nv_fatbin (__nv_relfatbin
// before device linking); start-up code hands them to the CUDA runtime. Some libraries keep them
// among their data instead. Only the section table is read.
#include "isa/cubin/executable.h"

#include <algorithm>

#include "isa/cubin/elf.h"
#include "isa/cubin/fatbin.h"

namespace lockstep::cubin {

namespace {

constexpr uint8_t kFatbinMagic[4] = {0x50, 0xed, 0x55, 0xba};
constexpr uint32_t kSectionDynamic = 6;
constexpr uint16_t kTypeExecutable = 2, kTypeShared = 3;

bool is_fatbin_section(std::string_view name) {
    return name == ".nv_fatbin" || name == "__nv_relfatbin";
}

elf::File open_host(std::span<const uint8_t> bytes, std::string_view file_name) {
    elf::File file(bytes, file_name, "executable");
    if (file.header().machine != elf::kMachineX86_64)
        file.reader().fail(18, fmt::format("a program for ELF machine {}, not for 64-bit x86 ({})",
                                           file.header().machine, elf::kMachineX86_64));
    return file;
}

// Libraries that load their modules themselves keep fatbins among their data, 8-byte aligned.
void search(std::span<const uint8_t> data, uint64_t offset, std::string_view file_name,
            std::vector<EmbeddedFatbin>& result) {
    constexpr uint64_t kAlignment = 8;
    uint64_t at = (kAlignment - offset % kAlignment) % kAlignment;
    while (at + kFatbinHeaderBytes <= data.size()) {
        const auto header = data.subspan(at).first<kFatbinHeaderBytes>();
        const uint8_t version_and_size[] = {1, 0, kFatbinHeaderBytes, 0};
        if (!std::equal(kFatbinMagic, kFatbinMagic + 4, header.begin()) ||
            !std::equal(version_and_size, version_and_size + 4, header.begin() + 4)) {
            at += kAlignment;
            continue;
        }
        const uint64_t size = fatbin_bytes(header, file_name);
        if (size > data.size() - at)
            malformed(file_name, offset + at,
                      fmt::format("a fatbin of {} bytes, {} are left", size, data.size() - at));
        result.push_back({data.subspan(at, size), offset + at});
        at += (size + kAlignment - 1) / kAlignment * kAlignment;
    }
}

}  // namespace

FileKind identify(std::span<const uint8_t> bytes) {
    if (elf::is_elf(bytes)) {
        const bool cuda = bytes.size() >= 20 && (bytes[18] | bytes[19] << 8) == elf::kMachineCuda;
        return cuda ? FileKind::kCubin : FileKind::kExecutable;
    }
    if (bytes.size() >= 4 && std::equal(kFatbinMagic, kFatbinMagic + 4, bytes.begin()))
        return FileKind::kFatbin;
    // PTX is text: comments and white space, then its first directive.
    const size_t looked_at = std::min<size_t>(bytes.size(), 65536);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), looked_at);
    const size_t version = text.find(".version");
    if (version != text.npos && text.find('\0') > version &&
        text.find(".target", version) != text.npos)
        return FileKind::kPtx;
    return FileKind::kUnknown;
}

std::vector<EmbeddedFatbin> find_fatbins(std::span<const uint8_t> bytes,
                                         std::string_view file_name) {
    const elf::File file = open_host(bytes, file_name);
    std::vector<EmbeddedFatbin> result;
    for (const elf::SectionHeader& section : file.sections()) {
        if (!section.has_bytes || section.size == 0) continue;
        const auto contents = bytes.subspan(section.offset, section.size);
        if (is_fatbin_section(section.name))
            result.push_back({contents, section.offset});
        else if ((section.flags & elf::kFlagAlloc) && !(section.flags & elf::kFlagExecute))
            search(contents, section.offset, file_name, result);
    }
    return result;
}

void check_runnable(std::span<const uint8_t> bytes, std::string_view file_name) {
    const elf::File file = open_host(bytes, file_name);
    if (file.header().type != kTypeExecutable && file.header().type != kTypeShared)
        file.reader().fail(16, "an object file, not a linked program; link it with nvcc");
    const bool dynamic =
        std::any_of(file.sections().begin(), file.sections().end(),
                    [](const elf::SectionHeader& s) { return s.type == kSectionDynamic; });
    if (!dynamic)
        throw InputError(
            fmt::format("{}: the program is linked statically as a whole, so that no library of it "
                        "can be replaced; link it with nvcc and without -static",
                        file_name));
}

}  // namespace lockstep::cubin
