// SPDX-License-Identifier: Apache-2.0
// The build id is a note of the program's ELF file, loaded with it.
#include "workloads/sweep/program_id.h"

#include <fmt/format.h>
#include <link.h>

#include <cstring>

#include "sim/stats/version.h"

namespace lockstep::sweep {

namespace {

std::size_t align(std::size_t bytes) {
    return (bytes + 3) & ~std::size_t{3};
}

/// Of the first object that is listed, which is the program.
int find_build_id(dl_phdr_info* info, std::size_t, void* into) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_NOTE) continue;
        const char* at = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
        const char* const end = at + segment.p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char* const name = at + sizeof note;
            const char* const data = name + align(note.n_namesz);
            at = data + align(note.n_descsz);
            if (at > end) break;
            if (note.n_type != NT_GNU_BUILD_ID || std::strncmp(name, "GNU", 4) != 0) continue;
            for (std::size_t byte = 0; byte < note.n_descsz; ++byte)
                *static_cast<std::string*>(into) +=
                    fmt::format("{:02x}", static_cast<unsigned char>(data[byte]));
        }
    }
    return 1;
}

std::string make_id() {
    std::string build_id;
    dl_iterate_phdr(find_build_id, &build_id);
    return fmt::format("{} {} {}", stats::version(), stats::commit(), build_id);
}

}  // namespace

const std::string& program_id() {
    static const std::string id = make_id();
    return id;
}

}  // namespace lockstep::sweep
