// SPDX-License-Identifier: Apache-2.0
// Device memory that a program maps itself: addresses without memory, and memory without an
// address.
#pragma once

#include <cstdint>

namespace lockstep {

enum class Access : std::uint8_t { kNone, kRead, kReadWrite };

/// Addresses and sizes are multiples of granularity(). Calls return 0 or false, and have no effect,
/// where what they name is not as described. The memory is the device's on which it was made.
class AddressSpace {
  public:
    virtual ~AddressSpace() = default;

    virtual std::uint64_t granularity() const = 0;

    /// A range of addresses that nothing else is given; 0 where none is left.
    virtual std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment) = 0;
    /// The whole range again; false where memory is mapped into it.
    virtual bool unreserve(std::uint64_t begin, std::uint64_t bytes) = 0;

    /// Zeroed memory; 0 where the device has no more. It exists until it has been released as
    /// often as it was made and held, and is mapped nowhere.
    virtual std::uint64_t create(std::uint64_t bytes) = 0;
    virtual bool hold(std::uint64_t memory) = 0;
    virtual bool release(std::uint64_t memory) = 0;
    /// Bytes of a memory that is held; 0: no such memory.
    virtual std::uint64_t bytes_of(std::uint64_t memory) const = 0;

    /// Puts the first `bytes` of a memory into a reserved range, where nothing is mapped; nobody
    /// may access them there yet.
    virtual bool map(std::uint64_t begin, std::uint64_t bytes, std::uint64_t memory) = 0;
    /// Of mappings that fill the range.
    virtual bool unmap(std::uint64_t begin, std::uint64_t bytes) = 0;
    virtual bool set_access(std::uint64_t begin, std::uint64_t bytes, Access access) = 0;

    /// What is mapped at an address; memory == 0: nothing.
    struct Mapping {
        std::uint64_t begin = 0, bytes = 0, memory = 0;
        Access access = Access::kNone;
    };
    virtual Mapping at(std::uint64_t address) const = 0;

    /// Unmaps, releases and gives back everything.
    virtual void clear() = 0;
};

}  // namespace lockstep
