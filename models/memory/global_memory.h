// SPDX-License-Identifier: Apache-2.0
// Functional global memory of one device: which device addresses are valid and what lies there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "isa/sass/global_memory.h"

namespace lockstep::memory {

enum class Kind : std::uint8_t { kDevice, kHost, kManaged, kRegisteredHost };

struct Allocation {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;  ///< as asked for; 0: no allocation
    Kind kind = Kind::kDevice;
    bool writable = true;
};

/// A device's allocations. Device addresses are host addresses: a region of fixed place is reserved
/// once, so that a run hands out the same addresses every time, and pages cost nothing until they
/// are touched. Allocation is first fit by address. Const functions may be called from several
/// threads while nobody allocates or frees.
class DeviceMemory : public sass::GlobalMemory {
  public:
    static constexpr std::uint64_t kAlignment = 512;
    /// Bytes after each allocation that belong to none, so that running over the end is noticed.
    static constexpr std::uint64_t kRedZone = 256;
    static constexpr std::uint64_t kRegionBytes = 1ull << 40;
    /// What a GPU's MMU maps at once (CUDA's allocation granularity since Pascal).
    static constexpr std::uint64_t kPageBytes = 2ull << 20;

    /// capacity: bytes of device memory. Throws InternalError where no region can be reserved.
    explicit DeviceMemory(std::uint64_t capacity);
    ~DeviceMemory() override;
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    /// Zeroed memory aligned to kAlignment, or 0 where capacity is exhausted. Memory of zero bytes
    /// has an address of its own that may not be accessed. Only kDevice counts against capacity.
    std::uint64_t allocate(std::uint64_t bytes, Kind kind = Kind::kDevice);
    /// The same, counted, above everything that allocate() gives.
    std::uint64_t allocate_above(std::uint64_t bytes);
    /// A range of addresses, above what allocate() gives, in which whoever asked for it shows
    /// memory; 0 where none is left. The alignment is a power of two.
    std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);
    void unreserve(std::uint64_t begin, std::uint64_t bytes);
    /// What lies in a reserved range is an allocation from now on, and none in [begin, end) is.
    void show(const Allocation& allocation) { allocations_[allocation.begin] = allocation; }
    void hide(std::uint64_t begin, std::uint64_t end);
    /// Capacity for memory that lies in reserved ranges; false where it is exhausted.
    bool take(std::uint64_t bytes);
    void give_back(std::uint64_t bytes) { used_ -= bytes; }
    /// False where no allocation (or registered range) begins at this address. Pages return to
    /// the host.
    bool free(std::uint64_t begin);
    /// Zeroes memory of one allocation by giving its pages back to the host, where it is so much
    /// that the host may not have it all; false: nothing is done.
    bool clear(std::uint64_t begin, std::uint64_t bytes);
    /// Makes host memory of the program accessible; false where it overlaps what is known.
    bool register_host(void* pointer, std::uint64_t bytes);
    /// From now on find() gives whole pages of kPageBytes that hold any of an allocation's bytes.
    /// What is allocated later shares no page with what is there, which keeps its exact bounds.
    void find_by_page();
    /// Stores to a read-only allocation fault.
    void set_writable(std::uint64_t begin, bool writable);

    /// The allocation that holds the address, or bytes == 0.
    Allocation allocation(std::uint64_t address) const;
    std::uint64_t total_bytes() const { return capacity_; }
    std::uint64_t free_bytes() const { return capacity_ - used_; }

    /// From now on find() knows another device's memory too: what of it belongs to the host or
    /// is managed at once, the rest while access is enabled.
    void add_peer(const DeviceMemory& peer) { peers_.push_back({&peer, false}); }
    void enable_peer(const DeviceMemory& peer, bool is_enabled);
    bool has_access(const DeviceMemory& peer) const;
    /// Where its addresses begin; a multiple of kRegionBytes.
    std::uint64_t region() const { return region_; }

    sass::Extent find(std::uint64_t address) const override;
    std::string describe(std::uint64_t address) const override;
    /// The page of kPageBytes of this address holds bytes of an allocation: a GPU's MMU maps it.
    bool is_on_mapped_page(std::uint64_t address) const;

  private:
    using Allocations = std::map<std::uint64_t, Allocation>;

    /// The last allocation that begins at or before the address, or end().
    Allocations::const_iterator at_or_before(std::uint64_t address) const;
    sass::Extent find_pages(std::uint64_t address, const Allocation& found) const;
    void commit(std::uint64_t end);
    void add_free(std::uint64_t begin, std::uint64_t end);
    /// Zeroes a range and gives its whole pages back to the host.
    void release_pages(std::uint64_t begin, std::uint64_t end);

    struct Peer {
        const DeviceMemory* memory;
        bool is_enabled;
    };
    bool is_own(std::uint64_t address) const { return address - region_ < kRegionBytes; }
    sass::Extent find_at_peer(std::uint64_t address) const;

    std::vector<Peer> peers_;
    Allocations allocations_;
    std::map<std::uint64_t, std::uint64_t> free_;  ///< free blocks of the region: begin -> bytes
    std::map<std::uint64_t, std::uint64_t> reserved_;  ///< begin -> bytes
    std::uint64_t region_ = 0;
    std::uint64_t committed_end_ = 0;  ///< the region is accessible up to here
    std::uint64_t capacity_;
    std::uint64_t used_ = 0;
    std::uint64_t first_page_ = 0;  ///< where pages count from; 0: bounds are exact
};

}  // namespace lockstep::memory
