// SPDX-License-Identifier: Apache-2.0
// On hardware host, device and managed memory are different places joined by unified addressing.
// Here all of them lie in this process under the addresses both sides use, so nothing migrates;
// what remains is which address belongs to which kind, and the errors calls report about it.
#include "workloads/cuda_api/state/memory.h"

#include <algorithm>
#include <utility>

#include "workloads/cuda_api/state/context.h"

namespace lockstep::cuda {
namespace {

DevicePointer address(const void* pointer) {
    return reinterpret_cast<DevicePointer>(pointer);
}

bool is_host(MemoryKind kind) {
    return kind == MemoryKind::kHost || kind == MemoryKind::kRegisteredHost;
}

}  // namespace

Error Memory::allocate(void** result, std::size_t bytes, MemoryKind kind, unsigned flags) {
    if (!result) return Error::kInvalidValue;
    *result = nullptr;
    if (bytes == 0) return Error::kSuccess;
    const DevicePointer pointer = context_.device().allocate(bytes, kind);
    if (pointer == 0) return Error::kMemoryAllocation;
    *result = reinterpret_cast<void*>(pointer);
    live_.insert(*result);
    if (kind == MemoryKind::kHost) host_flags_[*result] = flags;
    if (kind != MemoryKind::kDevice) context_.shares_memory();
    return Error::kSuccess;
}

Error Memory::allocate_pitched(abi::PitchedPointer& result, std::size_t width, std::size_t height,
                               std::size_t depth) {
    const std::size_t pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    std::size_t bytes = 0;
    if (pitch < width || __builtin_mul_overflow(pitch, height, &bytes) ||
        __builtin_mul_overflow(bytes, depth, &bytes))
        return Error::kMemoryAllocation;
    result = {nullptr, pitch, width, height};
    return allocate(&result.ptr, bytes, MemoryKind::kDevice);
}

Error Memory::release(void* pointer) {
    if (live_.erase(pointer) == 0 || !context_.device().free(address(pointer)))
        return Error::kInvalidValue;
    host_flags_.erase(pointer);
    if (const auto pool = pool_of_.find(pointer); pool != pool_of_.end()) pool_of_.erase(pool);
    return Error::kSuccess;
}

Error Memory::free_device(void* pointer) {
    if (!pointer) return Error::kSuccess;
    const AllocationInfo info = find(pointer);
    if (info.bytes == 0 || info.begin != address(pointer) || is_host(info.kind))
        return Error::kInvalidValue;
    if (const auto of_graph = of_graphs_.find(pointer); of_graph != of_graphs_.end())
        return std::exchange(of_graph->second, false) ? Error::kSuccess : Error::kInvalidValue;
    if (const auto pool = pool_of_.find(pointer); pool != pool_of_.end())
        pool->second->used -= info.bytes;
    return release(pointer);
}

Error Memory::free_host(void* pointer) {
    if (!pointer) return Error::kSuccess;
    const AllocationInfo info = find(pointer);
    if (info.bytes == 0 || info.begin != address(pointer) || info.kind != MemoryKind::kHost)
        return Error::kInvalidValue;
    return release(pointer);
}

Error Memory::register_host(void* pointer, std::size_t bytes, unsigned flags) {
    if (!pointer || bytes == 0) return Error::kInvalidValue;
    if (find(pointer).bytes != 0) return Error::kHostMemoryAlreadyRegistered;
    if (!context_.device().register_host(pointer, bytes)) return Error::kInvalidValue;
    live_.insert(pointer);
    host_flags_[pointer] = flags;
    context_.shares_memory();
    return Error::kSuccess;
}

Error Memory::unregister_host(void* pointer) {
    if (!pointer) return Error::kInvalidValue;
    const AllocationInfo info = find(pointer);
    if (info.bytes == 0 || info.begin != address(pointer) ||
        info.kind != MemoryKind::kRegisteredHost)
        return Error::kHostMemoryNotRegistered;
    return release(pointer);
}

Error Memory::host_flags(const void* pointer, unsigned& flags) const {
    const AllocationInfo info = find(pointer);
    const auto entry = host_flags_.find(reinterpret_cast<const void*>(info.begin));
    if (info.bytes == 0 || entry == host_flags_.end()) return Error::kInvalidValue;
    flags = entry->second;
    return Error::kSuccess;
}

bool Memory::accessible(const void* pointer, std::size_t bytes, bool must_be_known) const {
    const AllocationInfo info = find(pointer);
    if (info.bytes == 0) return !must_be_known;
    return bytes <= info.bytes - (address(pointer) - info.begin);
}

AllocationInfo Memory::find(const void* pointer) const {
    return context_.device().find(address(pointer));
}

abi::PointerAttributes Memory::attributes(const void* pointer) const {
    const AllocationInfo info = find(pointer);
    void* const itself = const_cast<void*>(pointer);
    if (info.bytes == 0) return {abi::kUnregistered, -2, nullptr, itself, {}};
    const auto owner = static_cast<int>(context_.owner(pointer));
    switch (info.kind) {
        case MemoryKind::kDevice:
            return {abi::kDevice, owner, itself, nullptr, {}};
        case MemoryKind::kManaged:
            return {abi::kManaged, owner, itself, itself, {}};
        case MemoryKind::kHost:
        case MemoryKind::kRegisteredHost:
            break;
    }
    return {abi::kHost, owner, itself, itself, {}};
}

MemoryPool* Memory::create_pool(const abi::MemPoolProps& properties) {
    pools_.push_back(std::make_unique<MemoryPool>());
    pools_.back()->properties = properties;
    return pools_.back().get();
}

bool Memory::is_pool(const MemoryPool* pool) const {
    return pool == &default_pool_ || std::any_of(pools_.begin(), pools_.end(),
                                                 [&](const auto& p) { return p.get() == pool; });
}

Error Memory::destroy_pool(MemoryPool* pool) {
    if (!is_pool(pool) || pool == &default_pool_) return Error::kInvalidValue;
    if (current_pool_ == pool) current_pool_ = &default_pool_;
    for (auto& [pointer, owner] : pool_of_)
        if (owner == pool) owner = &default_pool_;
    std::erase_if(pools_, [&](const auto& p) { return p.get() == pool; });
    return Error::kSuccess;
}

Error Memory::allocate_from(MemoryPool& pool, void** result, std::size_t bytes) {
    const Error error = allocate(result, bytes, MemoryKind::kDevice);
    if (error != Error::kSuccess || !*result) return error;
    pool_of_[*result] = &pool;
    pool.used += bytes;
    pool.used_high = std::max(pool.used_high, pool.used);
    return Error::kSuccess;
}

void Memory::keep_for_graph(void* pointer) {
    of_graphs_[pointer] = false;
    graph_reserved_high = std::max(graph_reserved_high, bytes_of_graphs(false));
}

void Memory::allocate_in_graph(void* pointer) {
    of_graphs_[pointer] = true;
    graph_used_high = std::max(graph_used_high, bytes_of_graphs(true));
}

std::uint64_t Memory::bytes_of_graphs(bool allocated) const {
    std::uint64_t bytes = 0;
    for (const auto& [pointer, is_allocated] : of_graphs_)
        if (is_allocated || !allocated) bytes += find(pointer).bytes;
    return bytes;
}

void Memory::release_from_graph(void* pointer) {
    const auto of_graph = of_graphs_.find(pointer);
    if (of_graph == of_graphs_.end()) return;
    const bool allocated = of_graph->second;
    of_graphs_.erase(of_graph);
    if (!allocated) free_device(pointer);
}

void Memory::clear() {
    for (void* pointer : live_) context_.device().free(address(pointer));
    live_.clear();
    if (AddressSpace* const space = context_.device().address_space()) space->clear();
    host_flags_.clear();
    pool_of_.clear();
    of_graphs_.clear();
    graph_reserved_high = graph_used_high = 0;
    default_pool_ = {};
    current_pool_ = &default_pool_;
    pools_.clear();
}

}  // namespace lockstep::cuda
