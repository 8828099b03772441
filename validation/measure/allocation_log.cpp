// SPDX-License-Identifier: Apache-2.0
#include "validation/measure/allocation_log.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "sim/stats/sha256.h"

namespace lockstep::validation {

namespace {

std::span<std::byte> bytes_of(DevicePointer pointer, const AllocationLog::Allocation& allocation) {
    return {reinterpret_cast<std::byte*>(pointer), allocation.bytes};
}

/// By the launch; of those that are not copied it is not known.
bool is_changed(std::span<const std::byte> now, const AllocationLog::Allocation& allocation) {
    return allocation.bytes <= AllocationLog::kMaximumBytes &&
           !std::equal(now.begin(), now.end(), allocation.before.begin(), allocation.before.end());
}

}  // namespace

void AllocationLog::before_launch() {
    for (auto& [pointer, allocation] : allocations_) {
        if (allocation.bytes > kMaximumBytes) continue;
        const std::span<const std::byte> now = bytes_of(pointer, allocation);
        allocation.before.assign(now.begin(), now.end());
    }
}

std::vector<DevicePointer> AllocationLog::restore() const {
    std::vector<DevicePointer> changed;
    for (const auto& [pointer, allocation] : allocations_) {
        const std::span<std::byte> now = bytes_of(pointer, allocation);
        if (!is_changed(now, allocation)) continue;
        std::copy(allocation.before.begin(), allocation.before.end(), now.begin());
        changed.push_back(pointer);
    }
    return changed;
}

std::vector<Output> AllocationLog::after_launch(std::uint64_t keep_bytes) {
    std::vector<Output> outputs;
    for (auto& [pointer, allocation] : allocations_) {
        if (const std::span<const std::byte> now = bytes_of(pointer, allocation);
            is_changed(now, allocation)) {
            Output output{allocation.number, allocation.bytes, stats::sha256(now), "", {}};
            if (allocation.bytes <= keep_bytes) output.data.assign(now.begin(), now.end());
            if (allocation.bytes <= kSmallBytes)
                for (const std::byte b : now)
                    output.value += fmt::format("{:02x}", static_cast<unsigned>(b));
            outputs.push_back(std::move(output));
        }
        allocation.before = {};
    }
    std::sort(outputs.begin(), outputs.end(),
              [](const Output& a, const Output& b) { return a.allocation < b.allocation; });
    return outputs;
}

}  // namespace lockstep::validation
