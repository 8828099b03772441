// SPDX-License-Identifier: Apache-2.0
// jmp *0(%rip) with the address behind it reaches all of memory and changes no register. The pages
// are the process's own copies: the file does not change.
#include "workloads/cuda_api/loader/redirect.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace lockstep::cuda {

bool redirect(std::span<const Redirection> redirections) {
    if (redirections.empty()) return true;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto by_address = [](const Redirection& a, const Redirection& b) {
        return a.from < b.from;
    };
    const auto [first, last] =
        std::minmax_element(redirections.begin(), redirections.end(), by_address);
    const std::uintptr_t begin = first->from / page * page;
    const std::uintptr_t end = (last->from + kJumpBytes + page - 1) / page * page;
    auto* const pages = reinterpret_cast<void*>(begin);
    if (mprotect(pages, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    for (const Redirection& redirection : redirections) {
        unsigned char jump[kJumpBytes] = {0xff, 0x25, 0, 0, 0, 0};
        std::memcpy(jump + 6, &redirection.to, sizeof(redirection.to));
        std::memcpy(reinterpret_cast<void*>(redirection.from), jump, sizeof(jump));
    }
    return mprotect(pages, end - begin, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace lockstep::cuda
