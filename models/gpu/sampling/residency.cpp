// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/residency.h"

#include <algorithm>
#include <utility>

#include "models/gpu/memory/message.h"

namespace lockstep::gpu {

namespace {

bool overlap(const MemoryRange& a, const MemoryRange& b) {
    return a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

}  // namespace

void Residency::use(std::span<const MemoryRange> ranges) {
    for (const MemoryRange& range : ranges) {
        if (range.bytes == 0) continue;
        std::erase_if(used_, [&](const MemoryRange& other) { return overlap(other, range); });
        if (range.bytes <= capacity_) used_.insert(used_.begin(), range);
    }
    std::uint64_t sum = 0;
    const auto last = std::find_if(used_.begin(), used_.end(), [&](const MemoryRange& range) {
        sum += range.bytes;
        return sum > capacity_;
    });
    used_.erase(last, used_.end());
}

ResidentLines Residency::lines(std::vector<ResidentLines::Range> copied) const {
    std::vector<ResidentLines::Range> lines;
    for (const MemoryRange& range : used_)
        lines.emplace_back(range.begin / kLineBytes,
                           (range.begin + range.bytes + kLineBytes - 1) / kLineBytes);
    return ResidentLines(std::move(lines), std::move(copied));
}

std::string Residency::text_of(std::span<const MemoryRange> ranges) const {
    std::string text;
    for (const MemoryRange& range : ranges)
        text += std::any_of(used_.begin(), used_.end(),
                            [&](const MemoryRange& other) { return overlap(other, range); })
                    ? 'w'
                    : 'c';
    return text;
}

}  // namespace lockstep::gpu
