// SPDX-License-Identifier: Apache-2.0
// What SMs and memory partitions say to each other through the crossbar.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/engine/time.h"

namespace lockstep::gpu {

inline constexpr unsigned kLineBytes = 128;
inline constexpr unsigned kSectorBytes = 32;
inline constexpr unsigned kSectorsPerLine = kLineBytes / kSectorBytes;
inline constexpr std::uint8_t kAllSectors = (1u << kSectorsPerLine) - 1;

enum class RequestKind : std::uint8_t {
    kRead,       ///< sectors of a line; answered by one or more replies that cover them all
    kWrite,      ///< data for sectors of a line; answered once, when it is performed at L2
    kAtomic,     ///< read-modify-write of lanes in one line, old values come back; answered once
    kReduction,  ///< likewise without old values; answered once, when it is performed at L2
};

/// Cache hint of the instruction (bits 84-86 of LDG/STG).
enum class EvictionPriority : std::uint8_t { kNormal, kFirst, kLast, kUnchanged, kNoAllocate };

/// From an SM to the memory partition that the line's address selects. Values do not travel:
/// functional memory holds them.
struct MemoryRequest {
    std::uint64_t line = 0;  ///< device address / kLineBytes
    /// Writes: what partial sectors get; bit i is bytes 2 i and 2 i + 1 of the line. A byte by
    /// itself does not count.
    std::uint64_t halves = 0;
    std::uint32_t id = 0;  ///< the SM's own; the replies carry it
    std::uint16_t sm = 0;
    RequestKind kind = RequestKind::kRead;
    std::uint8_t sectors = 0;           ///< mask: bit i is bytes [32 i, 32 i + 32) of the line
    std::uint8_t partial = 0;           ///< writes: those of the sectors that are not written whole
    std::uint8_t lanes = 0;             ///< atomics: lanes that operate in this line, 1 to 32
    std::uint8_t same_address = 0;      ///< atomics: most lanes that meet at one address
    std::uint8_t prefetch_sectors = 0;  ///< reads: what the instruction asks L2 to fetch beside
    EvictionPriority priority = EvictionPriority::kNormal;
    bool is_float = false;     ///< atomics: of floating-point numbers
    bool bypasses_l1 = false;  ///< reads: coalesced only where both wait for the slice
    bool translated = true;    ///< false: the SM's TLB missed, the partition's MMU must translate
};

/// Data that a write brings: whole sectors, and of partial ones what is written.
constexpr std::uint32_t written_bytes(const MemoryRequest& request) {
    constexpr unsigned kSectorHalves = kSectorBytes / 2;
    const unsigned whole = request.sectors & ~unsigned{request.partial};
    std::uint64_t halves = 0;
    for (unsigned sector = 0; sector < kSectorsPerLine; ++sector)
        if ((request.partial >> sector & 1) != 0)
            halves |= request.halves & (0xffffull << (sector * kSectorHalves));
    return static_cast<std::uint32_t>(std::popcount(whole)) * kSectorBytes +
           static_cast<std::uint32_t>(std::popcount(halves)) * 2;
}

/// The write becomes one of both: `line` is a request or a part of one (LineAccess).
template <typename Line>
void add_store(MemoryRequest& write, const Line& line) {
    constexpr unsigned kSectorHalves = kSectorBytes / 2;
    const unsigned whole = (write.sectors & ~write.partial) | (line.sectors & ~line.partial);
    write.halves |= line.halves;
    write.sectors |= line.sectors;
    unsigned partial = write.sectors & ~whole;
    for (unsigned sector = 0; sector < kSectorsPerLine; ++sector)
        if ((~write.halves >> (sector * kSectorHalves) & 0xffffu) == 0) partial &= ~(1u << sector);
    write.partial = static_cast<std::uint8_t>(partial);
}

struct MemoryReply {
    std::uint32_t id = 0;
    RequestKind kind = RequestKind::kRead;
    std::uint8_t sectors = 0;  ///< sectors whose data this reply brings (reads), or was written
};

/// An SM's side of the crossbar. Cycles are the SM's.
class MemoryPort {
  public:
    virtual ~MemoryPort() = default;
    /// False where the way to the line's partition has no credit in this cycle.
    virtual bool send(engine::Cycle now, const MemoryRequest& request) = 0;
    /// When to try again after send() was refused; kNever: the Tile is woken when it may.
    virtual engine::Cycle next_send(engine::Cycle now, const MemoryRequest& request) = 0;
    /// When the next reply can be taken (kNever: none is known), and the reply itself.
    virtual engine::Cycle next_reply() const = 0;
    virtual MemoryReply receive(engine::Cycle now) = 0;
};

}  // namespace lockstep::gpu
