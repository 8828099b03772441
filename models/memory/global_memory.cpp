// SPDX-License-Identifier: Apache-2.0
// A GPU's global memory is a virtual address space that the driver maps. Here a device address is
// the host address of the same byte, in a region reserved at a fixed place (so that pointers, and
// with them results that depend on pointers, repeat). No page tables and no TLB: the machine that
// needs them derives them from addresses.
#include "models/memory/global_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/error/error.h"

namespace lockstep::memory {

namespace {

/// Where the region may lie: far from what the host's kernel and loader choose by themselves, and
/// from the windows of shared and local memory. The last is for ThreadSanitizer, which lets
/// programs have memory in few places.
constexpr std::uint64_t kCandidates[] = {
    0x2000'0000'0000, 0x3000'0000'0000, 0x2800'0000'0000, 0x3800'0000'0000, 0x4000'0000'0000,
    0x1800'0000'0000, 0x5500'0000'0000, 0x2200'0000'0000, 0x2400'0000'0000, 0x2600'0000'0000,
    0x2a00'0000'0000, 0x2c00'0000'0000, 0x3200'0000'0000, 0x3400'0000'0000, 0x3600'0000'0000,
    0x3a00'0000'0000, 0x4200'0000'0000};
constexpr std::uint64_t kCommitStep = 64ull << 20;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

std::uint64_t page_bytes() {
    static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

std::byte* host(std::uint64_t address) {
    return reinterpret_cast<std::byte*>(address);
}

std::uint64_t reserve_region() {
    for (const std::uint64_t candidate : kCandidates) {
        void* const got =
            mmap(host(candidate), DeviceMemory::kRegionBytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == host(candidate)) return candidate;
        if (got != MAP_FAILED) munmap(got, DeviceMemory::kRegionBytes);
    }
    throw InputError(
        fmt::format("cannot reserve {} GiB of addresses for device memory (ulimit -v?): {}",
                    DeviceMemory::kRegionBytes >> 30, std::strerror(errno)));
}

std::string bytes_text(std::uint64_t bytes) {
    std::string digits = std::to_string(bytes);
    for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3)
        digits.insert(static_cast<std::size_t>(i), 1, ',');
    return digits;
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity)
    : region_(reserve_region()), committed_end_(region_), capacity_(capacity) {
    free_[region_] = kRegionBytes;
}

DeviceMemory::~DeviceMemory() {
    munmap(host(region_), kRegionBytes);
}

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes, Kind kind) {
    if (bytes > kRegionBytes / 2) return 0;
    const bool counts = kind == Kind::kDevice;
    if (counts && bytes > free_bytes()) return 0;
    const std::uint64_t block = round_up(bytes + kRedZone, kAlignment);
    const auto it =
        std::find_if(free_.begin(), free_.end(), [&](const auto& f) { return f.second >= block; });
    if (it == free_.end()) return 0;
    const std::uint64_t begin = it->first;
    const std::uint64_t rest = it->second - block;
    free_.erase(it);
    if (rest != 0) free_[begin + block] = rest;
    commit(begin + block);
    allocations_[begin] = {begin, bytes, kind, true};
    if (counts) used_ += bytes;
    return begin;
}

std::uint64_t DeviceMemory::allocate_above(std::uint64_t bytes) {
    const std::uint64_t block = round_up(bytes + kRedZone, kAlignment);
    if (bytes > free_bytes() || free_.empty() || free_.rbegin()->second < block) return 0;
    const auto last = std::prev(free_.end());
    last->second -= block;
    const std::uint64_t begin = last->first + last->second;
    if (last->second == 0) free_.erase(last);
    const std::uint64_t granule = first_page_ != 0 ? kPageBytes : page_bytes();
    const std::uint64_t first_page = begin / granule * granule;
    LOCKSTEP_CHECK(
        mprotect(host(first_page), begin + block - first_page, PROT_READ | PROT_WRITE) == 0,
        "cannot make device memory accessible: {}", std::strerror(errno));
    allocations_[begin] = {begin, bytes, Kind::kDevice, true};
    used_ += bytes;
    return begin;
}

void DeviceMemory::commit(std::uint64_t end) {
    if (end <= committed_end_) return;
    end = std::min(region_ + kRegionBytes, round_up(end, kCommitStep));
    LOCKSTEP_CHECK(
        mprotect(host(committed_end_), end - committed_end_, PROT_READ | PROT_WRITE) == 0,
        "cannot make device memory accessible: {}", std::strerror(errno));
    committed_end_ = end;
}

bool DeviceMemory::free(std::uint64_t begin) {
    const auto it = allocations_.find(begin);
    if (it == allocations_.end()) return false;
    const Allocation gone = it->second;
    allocations_.erase(it);
    if (gone.kind == Kind::kRegisteredHost) return true;
    if (gone.kind == Kind::kDevice) used_ -= gone.bytes;

    release_pages(begin, begin + gone.bytes);
    add_free(begin, begin + round_up(gone.bytes + kRedZone, kAlignment));
    return true;
}

void DeviceMemory::add_free(std::uint64_t begin, std::uint64_t end) {
    const auto next = free_.find(end);
    if (next != free_.end()) {
        end += next->second;
        free_.erase(next);
    }
    const auto after = free_.upper_bound(begin);
    if (after != free_.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == begin) {
            before->second = end - before->first;
            return;
        }
    }
    free_[begin] = end - begin;
}

std::uint64_t DeviceMemory::reserve(std::uint64_t bytes, std::uint64_t alignment) {
    for (auto block = free_.rbegin(); block != free_.rend(); ++block) {
        const std::uint64_t first = block->first, end = first + block->second;
        if (block->second < bytes) continue;
        const std::uint64_t begin = (end - bytes) / alignment * alignment;
        if (begin < first) continue;
        free_.erase(first);
        if (begin != first) free_[first] = begin - first;
        if (begin + bytes != end) free_[begin + bytes] = end - begin - bytes;
        reserved_[begin] = bytes;
        return begin;
    }
    return 0;
}

void DeviceMemory::unreserve(std::uint64_t begin, std::uint64_t bytes) {
    reserved_.erase(begin);
    LOCKSTEP_CHECK(mprotect(host(begin), bytes,
                            begin < committed_end_ ? PROT_READ | PROT_WRITE : PROT_NONE) == 0,
                   "cannot take back a range of device memory: {}", std::strerror(errno));
    add_free(begin, begin + bytes);
}

void DeviceMemory::hide(std::uint64_t begin, std::uint64_t end) {
    allocations_.erase(allocations_.lower_bound(begin), allocations_.lower_bound(end));
}

bool DeviceMemory::take(std::uint64_t bytes) {
    if (bytes > free_bytes()) return false;
    used_ += bytes;
    return true;
}

void DeviceMemory::release_pages(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t first = round_up(begin, page_bytes());
    const std::uint64_t last = end / page_bytes() * page_bytes();
    if (first >= last) {
        std::memset(host(begin), 0, end - begin);
        return;
    }
    std::memset(host(begin), 0, first - begin);
    std::memset(host(last), 0, end - last);
    // Anonymous private pages that were given back read as zeros.
    LOCKSTEP_CHECK(madvise(host(first), last - first, MADV_DONTNEED) == 0,
                   "cannot give device memory back: {}", std::strerror(errno));
}

bool DeviceMemory::clear(std::uint64_t begin, std::uint64_t bytes) {
    // Measured on a virtual machine: a page of 4 KiB is written in 0.05 to 0.17 us, given back and
    // touched again in 1.3 to 3.4. It is the host's memory that is worth that, where it is much.
    constexpr std::uint64_t kWorthwhile = 1ull << 30;
    if (bytes < kWorthwhile || !is_own(begin)) return false;
    // What is shown in reserved ranges is not ours to give back.
    const auto after = reserved_.upper_bound(begin);
    if (after != reserved_.begin()) {
        const auto& [first, size] = *std::prev(after);
        if (begin - first < size) return false;
    }
    release_pages(begin, begin + bytes);
    return true;
}

bool DeviceMemory::register_host(void* pointer, std::uint64_t bytes) {
    const auto begin = reinterpret_cast<std::uint64_t>(pointer);
    if (bytes == 0 || begin == 0 || begin + bytes < begin) return false;
    if (begin < region_ + kRegionBytes && region_ < begin + bytes) return false;
    const auto after = allocations_.lower_bound(begin + bytes);
    if (after != allocations_.begin()) {
        const Allocation& before = std::prev(after)->second;
        if (before.begin + std::max<std::uint64_t>(before.bytes, 1) > begin) return false;
    }
    allocations_[begin] = {begin, bytes, Kind::kRegisteredHost, true};
    return true;
}

void DeviceMemory::find_by_page() {
    const auto largest =
        std::max_element(free_.begin(), free_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    LOCKSTEP_CHECK(largest != free_.end(), "no device memory is free to begin a page in");
    const auto [begin, bytes] = *largest;
    first_page_ = round_up(begin, kPageBytes);
    free_.clear();
    free_[first_page_] = begin + bytes - first_page_;
}

void DeviceMemory::set_writable(std::uint64_t begin, bool writable) {
    const auto it = allocations_.find(begin);
    LOCKSTEP_CHECK(it != allocations_.end(), "no allocation begins at {:#x}", begin);
    it->second.writable = writable;
}

DeviceMemory::Allocations::const_iterator DeviceMemory::at_or_before(std::uint64_t address) const {
    const auto after = allocations_.upper_bound(address);
    return after == allocations_.begin() ? allocations_.end() : std::prev(after);
}

Allocation DeviceMemory::allocation(std::uint64_t address) const {
    const auto it = at_or_before(address);
    if (it == allocations_.end() || address - it->first >= it->second.bytes) return {};
    return it->second;
}

sass::Extent DeviceMemory::find(std::uint64_t address) const {
    const Allocation found = allocation(address);
    if (first_page_ != 0 && address >= first_page_ && address < region_ + kRegionBytes)
        return find_pages(address, found);
    if (found.bytes == 0)
        return peers_.empty() || is_own(address) ? sass::Extent{} : find_at_peer(address);
    return {found.begin, found.begin + found.bytes, host(found.begin), found.writable};
}

sass::Extent DeviceMemory::find_at_peer(std::uint64_t address) const {
    for (const Peer& peer : peers_) {
        const Allocation found = peer.memory->allocation(address);
        if (found.bytes == 0) continue;
        if (found.kind == Kind::kDevice && !peer.is_enabled) return {};
        return {found.begin, found.begin + found.bytes, host(found.begin), found.writable};
    }
    return {};
}

void DeviceMemory::enable_peer(const DeviceMemory& peer, bool is_enabled) {
    for (Peer& known : peers_)
        if (known.memory == &peer) known.is_enabled = is_enabled;
}

bool DeviceMemory::has_access(const DeviceMemory& peer) const {
    return std::any_of(peers_.begin(), peers_.end(), [&](const Peer& known) {
        return known.memory == &peer && known.is_enabled;
    });
}

sass::Extent DeviceMemory::find_pages(std::uint64_t address, const Allocation& found) const {
    std::uint64_t begin = address / kPageBytes * kPageBytes, end = begin + kPageBytes;
    if (found.bytes != 0) {
        begin = found.begin / kPageBytes * kPageBytes;
        end = round_up(found.begin + found.bytes, kPageBytes);
    } else if (!is_on_mapped_page(address)) {
        return {};
    }
    return {begin, end, host(begin), true};
}

bool DeviceMemory::is_on_mapped_page(std::uint64_t address) const {
    if (!is_own(address)) return false;
    const std::uint64_t begin = address / kPageBytes * kPageBytes;
    const auto last = at_or_before(begin + kPageBytes - 1);
    return last != allocations_.end() && last->second.bytes != 0 &&
           last->first + last->second.bytes > begin;
}

std::string DeviceMemory::describe(std::uint64_t address) const {
    if (address < 4096) return fmt::format("{:#x} is a null pointer", address);
    for (const Peer& peer : peers_)
        if (peer.memory->is_own(address))
            return fmt::format("another device's memory{}: {}",
                               peer.is_enabled ? "" : ", to which peer access is not enabled",
                               peer.memory->describe(address));
    if (const auto range = reserved_.upper_bound(address);
        range != reserved_.begin() && allocation(address).bytes == 0) {
        const auto [begin, bytes] = *std::prev(range);
        if (address - begin < bytes)
            return fmt::format(
                "{:#x} is byte {} of the {} that are reserved at {:#x}, where no memory is mapped "
                "that this device may access",
                address, bytes_text(address - begin), bytes_text(bytes), begin);
    }
    const auto before = at_or_before(address);
    const auto next = before == allocations_.end() ? allocations_.begin() : std::next(before);
    const auto text = [](const Allocation& a) {
        return fmt::format("a {}-byte allocation at {:#x}", bytes_text(a.bytes), a.begin);
    };
    if (before != allocations_.end()) {
        const Allocation& a = before->second;
        const std::uint64_t offset = address - a.begin;
        if (offset < a.bytes)
            return fmt::format("{:#x} is byte {} of {}{}", address, bytes_text(offset), text(a),
                               a.writable ? "" : " that is read-only");
        const std::uint64_t past = offset - a.bytes;
        if (next == allocations_.end() || past < next->first - address) {
            if (past == 0) return fmt::format("{:#x} is the end of {}", address, text(a));
            constexpr std::uint64_t kFar = std::uint64_t{1} << 40;  // beyond any device's memory
            if (past > kFar)
                return fmt::format(
                    "{:#x} is no address of this device's memory; it may be a "
                    "pointer of the host's",
                    address);
            return fmt::format("{:#x} is {} bytes past the end of {}", address, bytes_text(past),
                               text(a));
        }
    }
    if (next == allocations_.end())
        return fmt::format("{:#x}: nothing is allocated on this device", address);
    return fmt::format("{:#x} is {} bytes before {}", address, bytes_text(next->first - address),
                       text(next->second));
}

}  // namespace lockstep::memory
