// SPDX-License-Identifier: Apache-2.0
#include "sim/process/mapping_table.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace lockstep::process {

namespace {

/// Reads a line of /proc/self/maps; answers whether it was one.
bool parse_line(char*& at, Mapping& mapping, bool& is_shared) {
    const auto number = [&at](int base) {
        std::uint64_t value = 0;
        for (;; ++at) {
            const int digit = *at >= '0' && *at <= '9'                 ? *at - '0'
                              : base == 16 && *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                                                                       : -1;
            if (digit < 0) return value;
            value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
        }
    };
    if (*at == 0) return false;
    mapping.begin = number(16);
    ++at;
    mapping.end = number(16);
    ++at;
    mapping.protection = (at[0] == 'r' ? PROT_READ : 0u) | (at[1] == 'w' ? PROT_WRITE : 0u) |
                         (at[2] == 'x' ? PROT_EXEC : 0u);
    is_shared = at[3] == 's';
    at += 5;
    const std::uint64_t offset = number(16);
    for (int field = 0; field < 2; ++field) {
        ++at;
        while (*at != ' ' && *at != '\n') ++at;
    }
    while (*at == ' ') ++at;
    const char* const name = at;
    while (*at != '\n' && *at != 0) ++at;
    const auto size = static_cast<std::size_t>(at - name);
    if (*at == '\n') ++at;
    const auto is = [&](const char* what) {
        return size == std::strlen(what) && std::memcmp(name, what, size) == 0;
    };
    mapping.kind = size == 0       ? MappingKind::kAnonymous
                   : is("[heap]")  ? MappingKind::kHeap
                   : is("[stack]") ? MappingKind::kStack
                                   : MappingKind::kFile;
    mapping.name = mapping.kind == MappingKind::kFile
                       ? mixed(offset, std::as_bytes(std::span(name, size)))
                       : 0;
    return true;
}

}  // namespace

std::uint64_t thread_base() {
    std::uint64_t base = 0;
    syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
    return base;
}

std::size_t read_mappings(MappingTable& s, bool& has_shared) {
    has_shared = false;
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    std::size_t size = 0;
    for (ssize_t got;
         size < kTextBytes - 1 && (got = read(file, s.text + size, kTextBytes - 1 - size)) > 0;)
        size += static_cast<std::size_t>(got);
    close(file);
    s.text[size] = 0;
    std::size_t count = 0;
    char* at = s.text;
    bool is_shared = false;
    while (count < kMostMappings && parse_line(at, s.mappings[count], is_shared)) {
        has_shared |= is_shared && (s.mappings[count].protection & PROT_WRITE) != 0;
        if (s.mappings[count].begin < (1ull << 47)) ++count;  // not the kernel's own page
    }
    return count < kMostMappings && size < kTextBytes - 1 ? count : 0;
}

}  // namespace lockstep::process
