// SPDX-License-Identifier: Apache-2.0
// Memory without an address is a file of the host's in memory; mapping it is mmap at the device's
// address, so that several addresses of one memory show the same bytes.
#include "models/memory/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "sim/error/error.h"

namespace lockstep::memory {

namespace {

void* host(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}

/// Gives a range of addresses its memory: a file's, or (-1) none yet.
void place(std::uint64_t begin, std::uint64_t bytes, int file) {
    const int flags = MAP_FIXED | (file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS) |
                      (file >= 0 ? 0 : MAP_NORESERVE);
    LOCKSTEP_CHECK(mmap(host(begin), bytes, PROT_READ | PROT_WRITE, flags, file, 0) == host(begin),
                   "cannot map device memory: {}", std::strerror(errno));
}

}  // namespace

bool MappedMemory::is_aligned(std::uint64_t begin, std::uint64_t bytes) const {
    return bytes != 0 && begin % granularity() == 0 && bytes % granularity() == 0 &&
           begin + bytes > begin;
}

std::uint64_t MappedMemory::reserve(std::uint64_t bytes, std::uint64_t alignment) {
    if (!is_aligned(0, bytes) || (alignment != 0 && !std::has_single_bit(alignment))) return 0;
    const std::uint64_t begin = addresses_.reserve(bytes, std::max(alignment, granularity()));
    if (begin != 0) reserved_[begin] = bytes;
    return begin;
}

bool MappedMemory::unreserve(std::uint64_t begin, std::uint64_t bytes) {
    const auto found = reserved_.find(begin);
    if (found == reserved_.end() || found->second != bytes) return false;
    const auto first = mappings_.lower_bound(begin);
    if (first != mappings_.end() && first->first < begin + bytes) return false;
    reserved_.erase(found);
    addresses_.unreserve(begin, bytes);
    return true;
}

std::uint64_t MappedMemory::create(std::uint64_t bytes) {
    if (!is_aligned(0, bytes) || !addresses_.take(bytes)) return 0;
    const int file = memfd_create("device memory", MFD_CLOEXEC);
    LOCKSTEP_CHECK(file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0,
                   "cannot create device memory: {}", std::strerror(errno));
    memories_[next_] = {file, bytes, 1, 0};
    return next_++;
}

bool MappedMemory::hold(std::uint64_t memory) {
    const auto found = memories_.find(memory);
    if (found == memories_.end()) return false;
    ++found->second.holders;
    return true;
}

bool MappedMemory::release(std::uint64_t memory) {
    const auto found = memories_.find(memory);
    if (found == memories_.end() || found->second.holders == 0) return false;
    --found->second.holders;
    drop_unused(memory);
    return true;
}

std::uint64_t MappedMemory::bytes_of(std::uint64_t memory) const {
    const auto found = memories_.find(memory);
    return found == memories_.end() || found->second.holders == 0 ? 0 : found->second.bytes;
}

void MappedMemory::drop_unused(std::uint64_t memory) {
    const auto found = memories_.find(memory);
    if (found->second.holders != 0 || found->second.mappings != 0) return;
    close(found->second.file);
    addresses_.give_back(found->second.bytes);
    memories_.erase(found);
}

bool MappedMemory::map(std::uint64_t begin, std::uint64_t bytes, std::uint64_t memory) {
    if (!is_aligned(begin, bytes) || bytes > bytes_of(memory)) return false;
    auto range = reserved_.upper_bound(begin);
    if (range == reserved_.begin()) return false;
    --range;
    if (begin + bytes > range->first + range->second) return false;
    const auto next = mappings_.lower_bound(begin);
    if (next != mappings_.end() && next->first < begin + bytes) return false;
    if (at(begin).memory != 0) return false;
    Memory& mapped = memories_.at(memory);
    place(begin, bytes, mapped.file);
    ++mapped.mappings;
    mappings_[begin] = {begin, bytes, memory, Access::kNone};
    return true;
}

MappedMemory::Mappings::iterator MappedMemory::filled(std::uint64_t begin, std::uint64_t bytes) {
    const auto first = mappings_.find(begin);
    std::uint64_t end = begin;
    for (auto it = first; it != mappings_.end() && it->first == end && end < begin + bytes; ++it)
        end += it->second.bytes;
    return bytes != 0 && end == begin + bytes ? first : mappings_.end();
}

bool MappedMemory::unmap(std::uint64_t begin, std::uint64_t bytes) {
    auto it = filled(begin, bytes);
    if (it == mappings_.end()) return false;
    while (it != mappings_.end() && it->first < begin + bytes) {
        const std::uint64_t memory = it->second.memory;
        it = mappings_.erase(it);
        --memories_.at(memory).mappings;
        drop_unused(memory);
    }
    place(begin, bytes, -1);
    show(begin);
    return true;
}

bool MappedMemory::set_access(std::uint64_t begin, std::uint64_t bytes, Access access) {
    auto it = filled(begin, bytes);
    if (it == mappings_.end()) return false;
    for (; it != mappings_.end() && it->first < begin + bytes; ++it) it->second.access = access;
    show(begin);
    return true;
}

MappedMemory::Mapping MappedMemory::at(std::uint64_t address) const {
    const auto after = mappings_.upper_bound(address);
    if (after == mappings_.begin()) return {};
    const Mapping& mapping = std::prev(after)->second;
    return address - mapping.begin < mapping.bytes ? mapping : Mapping{};
}

void MappedMemory::show(std::uint64_t address) {
    const auto range = std::prev(reserved_.upper_bound(address));
    const std::uint64_t begin = range->first, end = begin + range->second;
    addresses_.hide(begin, end);
    Allocation run;
    const auto show_run = [&] {
        if (run.bytes != 0) addresses_.show(run);
    };
    for (auto it = mappings_.lower_bound(begin); it != mappings_.end() && it->first < end; ++it) {
        const Mapping& mapping = it->second;
        if (mapping.access == Access::kNone) continue;
        const bool writable = mapping.access == Access::kReadWrite;
        if (run.begin + run.bytes == mapping.begin && run.writable == writable) {
            run.bytes += mapping.bytes;
            continue;
        }
        show_run();
        run = {mapping.begin, mapping.bytes, Kind::kDevice, writable};
    }
    show_run();
}

void MappedMemory::clear() {
    while (!mappings_.empty()) {
        const Mapping mapping = mappings_.begin()->second;
        unmap(mapping.begin, mapping.bytes);
    }
    while (!reserved_.empty()) unreserve(reserved_.begin()->first, reserved_.begin()->second);
    while (!memories_.empty()) {
        memories_.begin()->second.holders = 0;
        drop_unused(memories_.begin()->first);
    }
}

}  // namespace lockstep::memory
