// SPDX-License-Identifier: Apache-2.0
// Launches follow others whose results they read, whose operands they write over, or whose results
// they replace. A buffer counts as a whole; buffers that share memory meet there.
#include <algorithm>

#include "workloads/network/gpu/executable.h"

namespace lockstep::network::gpu {

namespace {

/// A piece of memory that a launch uses.
struct Use {
    BufferId buffer = 0;
    bool is_between = false, is_written = false;
    std::uint64_t begin = 0, end = 0;  ///< of what lies between, which shares memory
};

std::vector<Use> uses_of(const Executable& code, const Launch& launch) {
    std::vector<Use> uses;
    for (const Relocation& pointer : launch.pointers) {
        if (pointer.buffer == code.faults) continue;  // all write the same into it
        const Buffer& buffer = code.buffers[pointer.buffer];
        uses.push_back({pointer.buffer, buffer.use == BufferUse::kBetween, pointer.is_written,
                        buffer.address, buffer.address + buffer.bytes});
    }
    return uses;
}

bool conflict(const std::vector<Use>& a, const std::vector<Use>& b) {
    for (const Use& x : a)
        for (const Use& y : b) {
            if (!x.is_written && !y.is_written) continue;
            if (x.buffer == y.buffer) return true;
            if (x.is_between && y.is_between && x.begin < y.end && y.begin < x.end) return true;
        }
    return false;
}

}  // namespace

std::vector<std::vector<std::size_t>> dependences_of(const Executable& code) {
    const std::size_t count = code.launches.size();
    std::vector<std::vector<Use>> uses;
    for (const Launch& launch : code.launches) uses.push_back(uses_of(code, launch));
    std::vector<std::vector<std::size_t>> direct(count);
    std::vector<std::vector<bool>> before(count, std::vector<bool>(count, false));
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = i; j-- > 0;) {
            if (before[i][j] || !conflict(uses[i], uses[j])) continue;
            direct[i].push_back(j);
            before[i][j] = true;
            for (std::size_t k = 0; k < j; ++k)
                if (before[j][k]) before[i][k] = true;
        }
        std::ranges::reverse(direct[i]);
    }
    return direct;
}

}  // namespace lockstep::network::gpu
