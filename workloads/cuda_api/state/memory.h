// SPDX-License-Identifier: Apache-2.0
// Allocations of the program: device, host, managed, registered, and from pools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "models/device.h"
#include "workloads/cuda_api/state/abi.h"

namespace lockstep::cuda {

class Context;

/// cudaMallocPitch and cudaMalloc3D round rows up to this (what they return on hardware).
inline constexpr std::size_t kPitchAlignment = 512;

/// A stream-ordered pool. Memory is returned to the device at once; the release threshold and the
/// reuse policies are only remembered.
class MemoryPool {
  public:
    std::uint64_t release_threshold = 0;
    int reuse[3] = {1, 1, 1};
    std::uint64_t used = 0, used_high = 0;
    abi::MemPoolProps properties{};
};

class Memory {
  public:
    explicit Memory(Context& context) : context_(context) {}

    Error allocate(void** result, std::size_t bytes, MemoryKind kind, unsigned host_flags = 0);
    Error allocate_pitched(abi::PitchedPointer& result, std::size_t width, std::size_t height,
                           std::size_t depth);
    /// Frees memory of one of two kinds; nullptr is no error.
    Error free_device(void* pointer);
    Error free_host(void* pointer);
    Error register_host(void* pointer, std::size_t bytes, unsigned flags);
    Error unregister_host(void* pointer);
    Error host_flags(const void* pointer, unsigned& flags) const;

    /// False where the range leaves the allocation it begins in, or where `must_be_known` and it
    /// begins in none. Memory the device does not know is the program's own.
    bool accessible(const void* pointer, std::size_t bytes, bool must_be_known) const;
    AllocationInfo find(const void* pointer) const;
    abi::PointerAttributes attributes(const void* pointer) const;

    MemoryPool* default_pool() { return &default_pool_; }
    MemoryPool* current_pool() { return current_pool_; }
    void set_current_pool(MemoryPool* pool) { current_pool_ = pool; }
    MemoryPool* create_pool(const abi::MemPoolProps& properties);
    Error destroy_pool(MemoryPool* pool);
    bool is_pool(const MemoryPool* pool) const;
    Error allocate_from(MemoryPool& pool, void** result, std::size_t bytes);

    /// Memory of an allocation node has its address as long as the graph or what was made of it
    /// lives, and counts as allocated from a launch until it is freed, which may be after that.
    void keep_for_graph(void* pointer);
    void allocate_in_graph(void* pointer);
    void release_from_graph(void* pointer);
    /// Bytes of graphs' memory: with an address, or of that allocated now.
    std::uint64_t bytes_of_graphs(bool allocated) const;
    std::uint64_t graph_reserved_high = 0, graph_used_high = 0;

    /// Frees everything (cudaDeviceReset).
    void clear();

  private:
    Error release(void* pointer);

    Context& context_;
    std::set<void*> live_;
    std::map<const void*, unsigned> host_flags_;
    std::map<void*, MemoryPool*> pool_of_;
    std::map<void*, bool> of_graphs_;  ///< true: allocated
    MemoryPool default_pool_;
    MemoryPool* current_pool_ = &default_pool_;
    std::vector<std::unique_ptr<MemoryPool>> pools_;
};

}  // namespace lockstep::cuda
