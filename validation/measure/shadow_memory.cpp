// SPDX-License-Identifier: Apache-2.0
// Managed memory would make one address of the two, but kernels then run on pages of other sizes
// than those of programs' own cudaMalloc, and a profiler has to move them for each of its passes.
// The host's copies lie where nothing else does, so that no number that is not an address looks
// like one.
#include "validation/measure/shadow_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "sim/error/error.h"

namespace lockstep::validation {

namespace {

/// The first candidate for the upper 32 bits of a copy's address: far from where a Linux process
/// has its program, heap and libraries.
constexpr std::uint64_t kUpperHalf = 0x2b5a;
constexpr std::uint64_t kCandidates = 0x1000;

/// The entry of the last key that is not above `key`, or end().
template <class Map>
auto last_not_above(const Map& map, std::uint64_t key) {
    auto after = map.upper_bound(key);
    return after == map.begin() ? map.end() : std::prev(after);
}

}  // namespace

ShadowMemory::~ShadowMemory() {
    while (!blocks_.empty()) free(blocks_.begin()->first);
}

DevicePointer ShadowMemory::allocate(std::uint64_t bytes) {
    Block block{.bytes = bytes};
    constexpr CuResult kOutOfMemory = 2;
    const CuResult result = driver_->allocate(&block.device, bytes);
    if (result == kOutOfMemory) return 0;
    driver_->check(result, "cuMemAlloc");
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t lower = block.device & 0xffffffff, offset = lower % page;
    block.mapped_bytes = offset + bytes;
    for (std::uint64_t i = 0; i < kCandidates; ++i) {
        void* const wanted = reinterpret_cast<void*>(((kUpperHalf + i) << 32 | lower) - offset);
        void* const got = mmap(wanted, block.mapped_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (got == wanted) {
            block.mapping = got;
            break;
        }
        if (got == MAP_FAILED) break;
        munmap(got, block.mapped_bytes);
    }
    if (block.mapping == nullptr) {
        driver_->free(block.device);
        throw InputError(fmt::format("the host has no room for a copy of {} bytes", bytes));
    }
    const auto pointer = reinterpret_cast<DevicePointer>(block.mapping) + offset;
    host_of_device_[block.device] = pointer;
    blocks_[pointer] = block;
    return pointer;
}

void ShadowMemory::free(DevicePointer pointer) {
    const Block block = blocks_.at(pointer);
    // No exception: workloads free their memory while a fault goes through them, and after a fault
    // every call of the driver fails.
    driver_->free(block.device);
    munmap(block.mapping, block.mapped_bytes);
    host_of_device_.erase(block.device);
    blocks_.erase(pointer);
}

void ShadowMemory::replace(std::span<std::byte> data, bool to_device) const {
    if (blocks_.empty()) return;
    // Most words are no addresses at all.
    std::uint64_t least = blocks_.begin()->first;
    std::uint64_t most = std::prev(blocks_.end())->first + std::prev(blocks_.end())->second.bytes;
    if (!to_device) {
        const auto& [device, host] = *std::prev(host_of_device_.end());
        least = host_of_device_.begin()->first, most = device + blocks_.at(host).bytes;
    }
    for (std::size_t at = 0; at + 8 <= data.size(); at += 8) {
        std::uint64_t word;
        std::memcpy(&word, data.data() + at, sizeof word);
        if (word < least || word > most) continue;
        std::uint64_t from = 0, to = 0, bytes = 0;
        if (to_device) {
            const auto found = last_not_above(blocks_, word);
            if (found == blocks_.end()) continue;
            from = found->first, to = found->second.device, bytes = found->second.bytes;
        } else {
            const auto found = last_not_above(host_of_device_, word);
            if (found == host_of_device_.end()) continue;
            from = found->first, to = found->second, bytes = blocks_.at(to).bytes;
        }
        if (word - from > bytes) continue;  // one past the end is an address too
        word = word - from + to;
        std::memcpy(data.data() + at, &word, sizeof word);
    }
}

void ShadowMemory::to_device(bool has_addresses) {
    for (const auto& [pointer, block] : blocks_) {
        const auto* host = reinterpret_cast<const std::byte*>(pointer);
        std::vector<std::byte> copy;
        if (has_addresses) {
            copy.assign(host, host + block.bytes);
            replace(copy, true);
            host = copy.data();
        }
        driver_->check(driver_->copy_to_device(block.device, host, block.bytes), "cuMemcpyHtoD");
    }
}

void ShadowMemory::to_host(bool has_addresses) {
    for (const auto& [pointer, block] : blocks_) {
        auto* const host = reinterpret_cast<std::byte*>(pointer);
        driver_->check(driver_->copy_to_host(host, block.device, block.bytes), "cuMemcpyDtoH");
        if (has_addresses) replace({host, block.bytes}, false);
    }
}

std::vector<std::byte> ShadowMemory::translated(std::span<const std::byte> parameters) const {
    std::vector<std::byte> copy(parameters.begin(), parameters.end());
    replace(copy, true);
    return copy;
}

}  // namespace lockstep::validation
