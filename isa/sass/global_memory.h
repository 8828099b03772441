// SPDX-License-Identifier: Apache-2.0
// How semantics reach global memory: extents of mapped device addresses, looked up and then cached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lockstep::sass {

/// A run of valid device addresses [begin, end); host is where byte `begin` lies. Empty: begin ==
/// end.
struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::byte* host = nullptr;
    bool writable = true;

    bool contains(std::uint64_t address, std::uint64_t bytes) const {
        return address >= begin && address < end && bytes <= end - address;
    }
    std::byte* at(std::uint64_t address) const { return host + (address - begin); }
};

class GlobalMemory {
  public:
    virtual ~GlobalMemory() = default;
    /// The allocation that holds `address`, or an empty extent. Valid until that allocation is
    /// freed, which never happens while a kernel runs.
    virtual Extent find(std::uint64_t address) const = 0;
    /// One clause for a fault message: the nearest allocation and how far away it is.
    virtual std::string describe(std::uint64_t address) const = 0;
};

}  // namespace lockstep::sass
