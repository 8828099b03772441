// SPDX-License-Identifier: Apache-2.0
// One bit a byte. A load is reported where none of the bytes that a lane reads was ever written:
// vector loads of structures read their padding, which copies from the host or other stores around
// it leave unwritten, and what they read there is never used.
#include "models/gpu/check/init.h"

#include <algorithm>
#include <bit>

namespace lockstep::gpu::check {

namespace {

constexpr unsigned kWordBytes = 64;

std::uint32_t all_of(unsigned bytes) {
    return bytes >= 32 ? ~0u : (1u << bytes) - 1;
}

/// Of `bytes` (at most 32) from `offset` on: those written before; marks them all if asked to.
std::uint32_t look(WrittenWord* words, std::uint64_t offset, unsigned bytes, bool is_write) {
    WrittenWord* const word = words + offset / kWordBytes;
    const unsigned at = offset % kWordBytes;
    const WrittenWord mask = all_of(bytes);
    std::uint64_t before = word[0] >> at & mask;
    if (is_write) word[0] |= mask << at;
    if (at + bytes > kWordBytes) [[unlikely]] {
        const unsigned in_first = kWordBytes - at;
        before |= word[1] << in_first & mask;
        if (is_write) word[1] |= mask >> in_first;
    }
    return static_cast<std::uint32_t>(before);
}

/// Marks the bytes [begin, end) as written, or not.
void mark(WrittenWord* words, std::uint64_t begin, std::uint64_t end, bool written) {
    while (begin < end) {
        const unsigned at = begin % kWordBytes;
        const std::uint64_t bytes = std::min<std::uint64_t>(end - begin, kWordBytes - at);
        const WrittenWord mask =
            (bytes == kWordBytes ? ~WrittenWord{0} : (WrittenWord{1} << bytes) - 1) << at;
        WrittenWord& word = words[begin / kWordBytes];
        word = written ? word | mask : word & ~mask;
        begin += bytes;
    }
}

}  // namespace

void InitCheck::allocated(std::uint64_t begin, std::uint64_t bytes) {
    tracked_[begin] = begin + bytes;
    // Pages are kept from earlier allocations at the same place.
    for (std::uint64_t at = begin; at < begin + bytes;) {
        const std::uint64_t page_begin = at / kPageBytes * kPageBytes;
        const std::uint64_t end = std::min(begin + bytes, page_begin + kPageBytes);
        if (Page* const page = pages_.find(at); page != nullptr)
            mark(page->written.data(), at - page_begin, end - page_begin, false);
        at = end;
    }
    begin_ = end_ = 0;
}

void InitCheck::freed(std::uint64_t begin) {
    tracked_.erase(begin);
    begin_ = end_ = 0;
}

void InitCheck::host_wrote(std::uint64_t begin, std::uint64_t bytes) {
    const auto after = tracked_.upper_bound(begin);
    if (after == tracked_.begin() || std::prev(after)->second <= begin) return;
    for (std::uint64_t at = begin; at < begin + bytes;) {
        const std::uint64_t page_begin = at / kPageBytes * kPageBytes;
        const std::uint64_t end = std::min(begin + bytes, page_begin + kPageBytes);
        mark(pages_.page(at).written.data(), at - page_begin, end - page_begin, true);
        at = end;
    }
}

CtaWritten InitCheck::unwritten_cta(const sass::Cta& cta, std::uint32_t reserved,
                                    std::uint32_t end) {
    const sass::Launch& launch = *cta.launch;
    CtaWritten written;
    // A word more, so that an access at the end may look at two.
    written.shared.assign(launch.shared_bytes / kWordBytes + 2, 0);
    mark(written.shared.data(), 0, std::min(reserved, launch.shared_bytes), true);
    mark(written.shared.data(), std::min(end, launch.shared_bytes), launch.shared_bytes, true);
    written.local.assign(cta.warps.size(), std::vector<std::uint32_t>(launch.local_bytes));
    return written;
}

std::uint32_t InitCheck::global(std::uint64_t address, unsigned bytes, bool is_write) {
    if (address < begin_ || address >= end_) {
        const auto after = tracked_.upper_bound(address);
        if (after == tracked_.begin() || std::prev(after)->second <= address) return ~0u;
        begin_ = std::prev(after)->first;
        end_ = std::prev(after)->second;
    }
    // Elements are aligned: they lie in one page.
    return look(pages_.page(address).written.data(), address % kPageBytes, bytes, is_write);
}

std::uint32_t InitCheck::shared(CtaWritten& cta, std::uint64_t offset, unsigned bytes,
                                bool is_write) {
    return look(cta.shared.data(), offset, bytes, is_write);
}

std::uint32_t InitCheck::local(std::vector<std::uint32_t>& written, unsigned lane,
                               std::uint64_t offset, unsigned bytes, bool is_write) {
    std::uint32_t before = 0;
    for (unsigned i = 0; i < bytes; ++i) {
        before |= (written[offset + i] >> lane & 1) << i;
        if (is_write) written[offset + i] |= 1u << lane;
    }
    return before;
}

void InitCheck::access(const Observed& access, CtaWritten& cta) {
    std::uint64_t last = ~0ull;
    for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const std::uint64_t address = access.address[lane];
        if (access.space != sass::Space::kLocal && address == last) continue;
        last = address;
        std::uint32_t before = 0;
        if (access.space == sass::Space::kGlobal)
            before = global(address, access.width, access.is_write);
        else if (access.space == sass::Space::kShared)
            before = shared(cta, address, access.width, access.is_write);
        else
            before =
                local(cta.local[access.warp.index], lane, address, access.width, access.is_write);
        const bool reads = !access.is_write || (access.is_atomic && !access.only_writes);
        if (reads && (before & all_of(access.width)) == 0)
            report_({access.pc, lane, access.space, address, access.width});
    }
}

}  // namespace lockstep::gpu::check
