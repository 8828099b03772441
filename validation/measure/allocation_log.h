// SPDX-License-Identifier: Apache-2.0
// What a launch changed in memory: the outputs by which a model and the silicon are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/device.h"

namespace lockstep::validation {

/// An allocation after a launch that changed it.
struct Output {
    std::size_t allocation = 0;  ///< allocations are numbered from 0 as the workload makes them
    std::uint64_t bytes = 0;
    std::string sha256;
    std::string value;            ///< hexadecimal, of small outputs
    std::vector<std::byte> data;  ///< where it was asked for
};

class AllocationLog {
  public:
    /// Larger allocations are neither copied nor hashed.
    static constexpr std::uint64_t kMaximumBytes = 64u << 20;
    /// Up to this size the value itself is kept.
    static constexpr std::uint64_t kSmallBytes = 256;

    struct Allocation {
        std::size_t number = 0;
        std::uint64_t bytes = 0;
        std::vector<std::byte> before;  ///< the launch
    };

    void add(DevicePointer pointer, std::uint64_t bytes) {
        allocations_[pointer] = {next_++, bytes, {}};
    }
    void remove(DevicePointer pointer) { allocations_.erase(pointer); }
    /// By address.
    const std::map<DevicePointer, Allocation>& allocations() const { return allocations_; }
    std::map<DevicePointer, Allocation>& allocations() { return allocations_; }

    void before_launch();
    /// Puts back what the allocations held before the launch, but for those that are not copied;
    /// returns those that the launch had changed.
    std::vector<DevicePointer> restore() const;
    /// What the launch changed, by number; with their bytes up to a size of `keep_bytes`.
    std::vector<Output> after_launch(std::uint64_t keep_bytes = 0);

  private:
    std::map<DevicePointer, Allocation> allocations_;
    std::size_t next_ = 0;
};

}  // namespace lockstep::validation
