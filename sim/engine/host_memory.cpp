// SPDX-License-Identifier: Apache-2.0
// The state of a chip is tens of megabytes that are visited in turn, millions of times: with pages
// of 4 KiB the host spends a tenth of its time walking page tables. So the heap grows in large
// steps, of which the first may have huge pages. And large arrays come and go all the time (a
// network's values): they stay in the heap, so that the system need not clear and map their pages
// again. Source: mallopt(3), madvise(2).
#include "sim/engine/host_memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <limits>

namespace lockstep::engine {

void prepare_host_memory() {
    constexpr int kStep = 1 << 30;  // of addresses; memory is taken where it is touched
    constexpr std::uintptr_t kHugePage = 2 << 20;
    mallopt(M_MMAP_THRESHOLD, kStep);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    mallopt(M_TOP_PAD, kStep);
    const auto begin = reinterpret_cast<std::uintptr_t>(sbrk(0));
    void* volatile more = std::malloc(kHugePage);  // than there is: the heap grows
    std::free(more);
    const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
    const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
    if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace lockstep::engine
