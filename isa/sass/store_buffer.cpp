// SPDX-License-Identifier: Apache-2.0
// A GPU's L1 writes through and SMs see each other's stores only at the L2, some hundred cycles
// later; the program orders them by fences and atomics, which wait for the stores' acknowledgement.
// A store that becomes visible at the end of a window, which is shorter than the way to the L2 and
// back, is hence early enough for every program that synchronises.
#include "isa/sass/store_buffer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/error/error.h"

namespace lockstep::sass {

namespace {

/// Calls f(line number, offset in the line, offset from address, bytes) for each line's part.
template <typename F>
void for_each_line(std::uint64_t address, std::size_t bytes, F&& f) {
    for (std::size_t done = 0; done < bytes;) {
        const auto offset = static_cast<unsigned>((address + done) % kLineBytes);
        const auto part =
            static_cast<unsigned>(std::min<std::size_t>(bytes - done, kLineBytes - offset));
        f((address + done) / kLineBytes, offset, done, part);
        done += part;
    }
}

/// Calls f(offset, bytes) for each run of set bits.
template <typename F>
void for_each_run(const ByteMask& mask, F&& f) {
    for (unsigned h = 0; h < 2; ++h) {
        std::uint64_t left = mask.half[h];
        while (left != 0) {
            const auto begin = static_cast<unsigned>(std::countr_zero(left));
            const auto bytes = static_cast<unsigned>(std::countr_one(left >> begin));
            f(64 * h + begin, bytes);
            left = begin + bytes == 64 ? 0 : left >> (begin + bytes) << (begin + bytes);
        }
    }
}

}  // namespace

StoreBuffer::Line& StoreBuffer::line(std::uint64_t number) {
    const std::uint32_t known = index_.size();
    const std::uint32_t place = index_.find_or_add(number);
    if (place == known) {
        if (place == lines_.size()) lines_.emplace_back();
        lines_[place].number = number;
        lines_[place].stored = {};
    }
    return lines_[place];
}

void StoreBuffer::write(std::uint64_t address, const std::byte* from, std::size_t bytes) {
    for_each_line(address, bytes,
                  [&](std::uint64_t number, unsigned offset, std::size_t at, unsigned part) {
                      Line& to = line(number);
                      std::memcpy(to.bytes + offset, from + at, part);
                      to.stored |= ByteMask::of(offset, part);
                  });
}

void StoreBuffer::overlay(std::uint64_t address, std::byte* bytes, std::size_t count) const {
    for_each_line(address, count,
                  [&](std::uint64_t number, unsigned offset, std::size_t at, unsigned part) {
                      const std::uint32_t place = index_.find(number);
                      if (place == LineIndex::kNone) return;
                      const Line& from = lines_[place];
                      const ByteMask wanted = ByteMask::of(offset, part);
                      for_each_run(from.stored & wanted, [&](unsigned begin, unsigned length) {
                          std::memcpy(bytes + at + (begin - offset), from.bytes + begin, length);
                      });
                  });
}

bool StoreBuffer::may_hold(std::uint64_t address, std::size_t bytes) const {
    const std::uint64_t last = (address + bytes - 1) / kLineBytes;
    if (!index_.may_hold(address / kLineBytes, last)) return false;
    for (std::uint64_t number = address / kLineBytes; number <= last; ++number)
        if (index_.find(number) != LineIndex::kNone) return true;
    return false;
}

bool StoreBuffer::may_hold(const std::uint64_t* address, std::uint32_t mask) const {
    if (empty()) return false;
    std::uint64_t checked = ~0ull;  // no address has this line
    for (; mask != 0; mask &= mask - 1) {
        const std::uint64_t number = address[std::countr_zero(mask)] / kLineBytes;
        if (number == checked) continue;
        checked = number;
        if (index_.may_hold(number, number) && index_.find(number) != LineIndex::kNone) return true;
    }
    return false;
}

template <typename F>
void StoreBuffer::for_each_part(const GlobalMemory& memory, F&& visit) const {
    Extent extent;
    for (std::uint32_t i = 0; i < index_.size(); ++i) {
        const Line& from = lines_[i];
        for_each_run(from.stored, [&](unsigned begin, unsigned bytes) {
            while (bytes != 0) {
                // Stores side by side may lie in allocations side by side.
                const std::uint64_t address = from.number * kLineBytes + begin;
                if (!extent.contains(address, 1)) extent = memory.find(address);
                LOCKSTEP_CHECK(extent.contains(address, 1), "stored to {:#x}, which is not mapped",
                               address);
                const auto part =
                    static_cast<unsigned>(std::min<std::uint64_t>(bytes, extent.end - address));
                visit(extent.at(address), from.bytes + begin, part);
                begin += part;
                bytes -= part;
            }
        });
    }
}

void StoreBuffer::commit(const GlobalMemory& memory) {
    for_each_part(memory, [](std::byte* host, const std::byte* from, unsigned bytes) {
        std::memcpy(host, from, bytes);
    });
    index_.clear();
}

bool StoreBuffer::changes(const GlobalMemory& memory) const {
    bool differs = false;
    for_each_part(memory, [&](const std::byte* host, const std::byte* from, unsigned bytes) {
        differs = differs || std::memcmp(host, from, bytes) != 0;
    });
    return differs;
}

}  // namespace lockstep::sass
