// SPDX-License-Identifier: Apache-2.0
// Large arrays come and go all the time (a network's values): they stay in the heap, so that the
// system need not clear and map their pages again. And the state of a chip is tens of megabytes
// that are visited in turn, millions of times: with pages of 4 KiB the host spends a quarter of its
// time walking page tables. Huge pages are cheap to get for memory that nobody has touched; what
// lies in small ones already is moved for long simulations only, since that is dear where the host
// is a virtual machine. Source: mallopt(3), madvise(2).
#include "sim/engine/host_memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

namespace lockstep::engine {

namespace {

/// Where the heap ended when the process began.
std::uintptr_t heap_begin = 0;

std::uintptr_t heap_end() {
    return reinterpret_cast<std::uintptr_t>(sbrk(0));
}

constexpr std::uintptr_t kHugePage = 2 << 20;

/// Blocks up to so many bytes stay in the heap when they are freed.
void keep_blocks_below(int bytes) {
    mallopt(M_MMAP_THRESHOLD, bytes);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace

void prepare_host_memory() {
    keep_blocks_below(1 << 30);
    heap_begin = heap_end();
}

void grow_in_huge_pages() {
    static bool is_done = false;
    if (std::exchange(is_done, true)) return;
    // Room at the heap's end, which it keeps when it gets it back.
    constexpr std::size_t kRoom = 256 << 20;
    keep_blocks_below(1 << 30);
    void* const room = std::malloc(kRoom);
    if (room != nullptr) {
        const auto first =
            (reinterpret_cast<std::uintptr_t>(room) + kHugePage - 1) / kHugePage * kHugePage;
        const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(room) + kRoom;
        madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
        std::free(room);
    }
    // The blocks of another program that owns the process go back to the system if they are large.
    if (heap_begin == 0) keep_blocks_below(32 << 20);
}

void move_to_huge_pages() {
    if (heap_begin == 0) return;  // the heap is another program's
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
