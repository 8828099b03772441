// SPDX-License-Identifier: Apache-2.0
// Large arrays come and go all the time (a network's values): they stay in the heap, so that the
// system need not clear and map their pages again. And the state of a chip is tens of megabytes
// that are visited in turn, millions of times: with pages of 4 KiB the host spends a tenth of its
// time walking page tables. Huge pages are dear to get where the host is a virtual machine, so they
// are for long simulations only. Source: mallopt(3), madvise(2).
#include "sim/engine/host_memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <limits>

namespace lockstep::engine {

namespace {

/// Where the heap ended when the process began.
std::uintptr_t heap_begin = 0;

std::uintptr_t heap_end() {
    return reinterpret_cast<std::uintptr_t>(sbrk(0));
}

}  // namespace

void prepare_host_memory() {
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    heap_begin = heap_end();
}

void move_to_huge_pages() {
    if (heap_begin == 0) return;  // the heap is another program's
    constexpr std::uintptr_t kHugePage = 2 << 20;
    const std::uintptr_t first = (heap_begin + kHugePage - 1) / kHugePage * kHugePage;
    const std::uintptr_t end = heap_end();
    if (end <= first) return;
    // That the system refuses, or does not know it, changes nothing.
    madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#ifdef MADV_COLLAPSE
    madvise(reinterpret_cast<void*>(first), end - first, MADV_COLLAPSE);
#else
    constexpr int kCollapse = 25;  // Linux 6.1
    madvise(reinterpret_cast<void*>(first), end - first, kCollapse);
#endif
}

}  // namespace lockstep::engine
