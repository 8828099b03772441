// SPDX-License-Identifier: Apache-2.0
// The AddressSpace of one device.
#pragma once

#include <cstdint>
#include <map>

#include "models/address_space.h"
#include "models/memory/global_memory.h"

namespace lockstep::memory {

class MappedMemory final : public AddressSpace {
  public:
    explicit MappedMemory(DeviceMemory& addresses) : addresses_(addresses) {}
    ~MappedMemory() override { clear(); }
    MappedMemory(const MappedMemory&) = delete;
    MappedMemory& operator=(const MappedMemory&) = delete;

    std::uint64_t granularity() const override { return DeviceMemory::kPageBytes; }
    std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment) override;
    bool unreserve(std::uint64_t begin, std::uint64_t bytes) override;
    std::uint64_t create(std::uint64_t bytes) override;
    bool hold(std::uint64_t memory) override;
    bool release(std::uint64_t memory) override;
    std::uint64_t bytes_of(std::uint64_t memory) const override;
    bool map(std::uint64_t begin, std::uint64_t bytes, std::uint64_t memory) override;
    bool unmap(std::uint64_t begin, std::uint64_t bytes) override;
    bool set_access(std::uint64_t begin, std::uint64_t bytes, Access access) override;
    Mapping at(std::uint64_t address) const override;
    void clear() override;

  private:
    struct Memory {
        int file = -1;
        std::uint64_t bytes = 0;
        unsigned holders = 0, mappings = 0;
    };
    using Mappings = std::map<std::uint64_t, Mapping>;

    bool is_aligned(std::uint64_t begin, std::uint64_t bytes) const;
    /// The first mapping of those that fill the range, or end().
    Mappings::iterator filled(std::uint64_t begin, std::uint64_t bytes);
    void drop_unused(std::uint64_t memory);
    /// Mappings side by side of the same access are one allocation: an access may cross from one
    /// to the next. Anew for the reservation that holds the address.
    void show(std::uint64_t address);

    DeviceMemory& addresses_;
    std::map<std::uint64_t, std::uint64_t> reserved_;  ///< begin -> bytes
    std::map<std::uint64_t, Memory> memories_;
    Mappings mappings_;  ///< by begin
    std::uint64_t next_ = 1;
};

}  // namespace lockstep::memory
