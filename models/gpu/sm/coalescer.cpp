// SPDX-License-Identifier: Apache-2.0
// The load/store unit merges the lanes of an instruction that touch the same 128-byte line into one
// request for the line's 32-byte sectors (CUDA C Programming Guide, global memory). Consecutive and
// uniform addresses, by far the most frequent, are recognised first. Local memory interleaves the
// lanes' words, so that lanes at the same offset share a line.
#include "models/gpu/sm/coalescer.h"

#include <algorithm>
#include <array>
#include <bit>

#include "isa/sass/semantics/address.h"

namespace lockstep::gpu {

namespace {

using sass::for_each_lane;
using sass::kWarpSize;

constexpr std::uint64_t kLineOffset = kLineBytes - 1;
constexpr unsigned kSectorHalves = kSectorBytes / 2;

/// The even bits of a mask, moved together.
std::uint16_t even_bits(std::uint32_t mask) {
    mask &= 0x5555'5555u;
    mask = (mask | mask >> 1) & 0x3333'3333u;
    mask = (mask | mask >> 2) & 0x0f0f'0f0fu;
    mask = (mask | mask >> 4) & 0x00ff'00ffu;
    return static_cast<std::uint16_t>(mask | mask >> 8);
}

/// Pairs of bytes of a sector whose bytes are both in the mask.
std::uint16_t halves_of(std::uint32_t bytes) {
    return even_bits(bytes & bytes >> 1);
}

/// Pairs of bytes of the words in the mask.
std::uint16_t halves_of_words(std::uint32_t words) {
    std::uint32_t halves = 0;
    for (unsigned w = 0; w < kSectorHalves / 2; ++w)
        if ((words >> w & 1) != 0) halves |= 3u << (2 * w);
    return static_cast<std::uint16_t>(halves);
}

/// One run of bytes, [begin, end).
void add_run(std::uint64_t begin, std::uint64_t end, LineAccesses& out) {
    out.count = 0;
    while (begin < end) {
        const std::uint64_t to = std::min(end, (begin | kLineOffset) + 1);
        out.line[out.count++] = line_of_run(begin, to);
        begin = to;
    }
}

/// Consecutive elements in adjacent lanes, or one element for all: done here.
bool coalesce_regular(const sass::Access& access, std::uint32_t lanes, LineAccesses& out) {
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    const std::uint64_t begin = access.address[first];
    out.is_uniform = false;
    out.is_regular = true;
    const std::uint32_t run = lanes >> first;
    if ((run & (run + 1)) == 0 &&
        sass::is_consecutive(access.address, begin - first * access.width, access.width, lanes)) {
        add_run(begin, begin + static_cast<unsigned>(std::popcount(lanes)) * access.width, out);
        return true;
    }
    if (sass::is_consecutive(access.address, begin, 0, lanes)) {
        out.is_uniform = true;
        add_run(begin, begin + access.width, out);
        return true;
    }
    out.is_regular = false;
    return false;
}

/// Finds or adds the line; addresses usually rise from lane to lane.
class LineFinder {
  public:
    explicit LineFinder(LineAccesses& out) : out_(out) { out_.count = 0; }
    unsigned find(std::uint64_t line) {
        if (out_.count != 0) {
            if (out_.line[last_].line == line) return last_;
            if (line <= largest_)
                for (unsigned i = 0; i < out_.count; ++i)
                    if (out_.line[i].line == line) return last_ = i;
        }
        largest_ = out_.count == 0 ? line : std::max(largest_, line);
        last_ = out_.count++;
        out_.line[last_] = {line};
        return last_;
    }

  private:
    LineAccesses& out_;
    unsigned last_ = 0;
    std::uint64_t largest_ = 0;
};

std::uint8_t sector_of(std::uint64_t address) {
    return static_cast<std::uint8_t>(1u << (address / kSectorBytes % kSectorsPerLine));
}

/// Lanes of `lanes` that have this address.
std::uint32_t lanes_at(const sass::Access& access, std::uint32_t lanes, std::uint64_t address) {
    std::uint32_t at = 0;
    for (unsigned l = 0; l < kWarpSize; ++l)
        at |= static_cast<std::uint32_t>(access.address[l] == address) << l;
    return at & lanes;
}

}  // namespace

// A line's bank is the exclusive or of all digits of its number. So much can be read from the
// cycles and tag wavefronts that an A100 and an H200 take for loads at 65 strides and in blocks
// (gpu-benches, gpu-strides: with this hash 2.1% and 3.8% off on average, with the best of all
// pairs of masks 2.1% and 3.0%, and with four of any lines at a time 14% and 6%).
unsigned tag_cycles(const LineAccesses& lines, unsigned banks) {
    if (lines.count <= 1 || banks == 1) return 1;
    const auto digit = static_cast<unsigned>(std::countr_zero(banks));
    std::array<std::uint8_t, kMaxTagBanks> load{};
    std::uint8_t most = 0;
    for (const LineAccess& line : lines) {
        std::uint64_t folded = line.line;
        for (unsigned shift = digit; shift < 64; shift *= 2) folded ^= folded >> shift;
        most = std::max(most, ++load[folded & (banks - 1)]);
    }
    return most;
}

LineAccess line_of_run(std::uint64_t begin, std::uint64_t end) {
    const auto from = static_cast<unsigned>(begin & kLineOffset);
    const auto last = static_cast<unsigned>((end - 1) & kLineOffset);
    const unsigned first_sector = from / kSectorBytes, last_sector = last / kSectorBytes;
    unsigned partial = 0;
    if (from % kSectorBytes != 0) partial |= 1u << first_sector;
    if (last % kSectorBytes != kSectorBytes - 1) partial |= 1u << last_sector;
    // Pairs of bytes that lie in the run whole.
    const unsigned first_half = (from + 1) / 2, end_half = (last + 1) / 2;
    const std::uint64_t below = end_half == 64 ? ~0ull : (1ull << end_half) - 1;
    const std::uint64_t from_first = first_half == 64 ? 0 : ~0ull << first_half;
    return {.line = begin / kLineBytes,
            .sectors = static_cast<std::uint8_t>((2u << last_sector) - (1u << first_sector)),
            .partial = static_cast<std::uint8_t>(partial),
            .halves = below & from_first};
}

void coalesce_load(const sass::Access& access, std::uint32_t lanes, LineAccesses& out) {
    out.count = 0;
    if (lanes == 0 || coalesce_regular(access, lanes, out)) return;
    LineFinder finder(out);
    for_each_lane(lanes, [&](unsigned l) {
        const std::uint64_t address = access.address[l];
        out.line[finder.find(address / kLineBytes)].sectors |= sector_of(address);
    });
}

void coalesce_store(const sass::Access& access, std::uint32_t lanes, LineAccesses& out) {
    out.count = 0;
    if (lanes == 0 || coalesce_regular(access, lanes, out)) return;
    LineFinder finder(out);
    std::uint32_t written[kWarpSize][kSectorsPerLine];  // bytes, by line and sector
    const std::uint32_t element = (1u << access.width) - 1;
    for_each_lane(lanes, [&](unsigned l) {
        const std::uint64_t address = access.address[l];
        const unsigned before = out.count;
        const unsigned i = finder.find(address / kLineBytes);
        if (out.count != before) std::fill_n(written[i], kSectorsPerLine, 0u);
        written[i][address / kSectorBytes % kSectorsPerLine] |= element << (address % kSectorBytes);
        out.line[i].sectors |= sector_of(address);
    });
    for (unsigned i = 0; i < out.count; ++i)
        for (unsigned s = 0; s < kSectorsPerLine; ++s)
            if (written[i][s] != 0 && written[i][s] != ~0u) {
                out.line[i].partial |= static_cast<std::uint8_t>(1u << s);
                out.line[i].halves |= std::uint64_t{halves_of(written[i][s])}
                                      << (s * kSectorHalves);
            }
}

void coalesce_atomic(const sass::Access& access, std::uint32_t lanes, LineAccesses& out) {
    out.count = 0;
    if (lanes == 0) return;
    if (coalesce_regular(access, lanes, out)) {
        const auto all = static_cast<std::uint8_t>(std::popcount(lanes));
        if (out.is_uniform) {
            out.line[0].lanes = out.line[0].same_address = all;
            return;
        }
        const auto first = static_cast<unsigned>(std::countr_zero(lanes));
        std::uint64_t address = access.address[first];
        unsigned left = all;
        for (unsigned i = 0; i < out.count; ++i) {
            const auto room =
                static_cast<unsigned>((kLineBytes - (address & kLineOffset)) / access.width);
            const unsigned here = std::min(left, room);
            out.line[i].lanes = static_cast<std::uint8_t>(here);
            out.line[i].same_address = 1;
            left -= here;
            address += std::uint64_t{here} * access.width;
        }
        return;
    }
    LineFinder finder(out);
    while (lanes != 0) {
        const std::uint64_t address = access.address[std::countr_zero(lanes)];
        const std::uint32_t here = lanes_at(access, lanes, address);
        lanes &= ~here;
        LineAccess& line = out.line[finder.find(address / kLineBytes)];
        const auto count = static_cast<std::uint8_t>(std::popcount(here));
        line.sectors |= sector_of(address);
        line.lanes = static_cast<std::uint8_t>(line.lanes + count);
        line.same_address = std::max(line.same_address, count);
    }
}

void coalesce_texels(const sass::TexelFootprint& texels, LineAccesses& out) {
    out.is_regular = out.is_uniform = false;
    LineFinder finder(out);
    for (unsigned tap = 0; tap < texels.taps; ++tap)
        for_each_lane(texels.lanes[tap], [&](unsigned l) {
            const std::uint64_t address = texels.address[tap][l];
            out.line[finder.find(address / kLineBytes)].sectors |= sector_of(address);
        });
}

unsigned texel_wavefronts(const sass::TexelFootprint& texels, unsigned first) {
    std::array<std::uint64_t, sass::Taps::kCapacity * kTextureQuad> sectors;
    std::size_t count = 0;
    for (unsigned tap = 0; tap < texels.taps; ++tap)
        for (unsigned l = first; l < first + kTextureQuad; ++l)
            if ((texels.lanes[tap] >> l & 1) != 0)
                sectors[count++] = texels.address[tap][l] / kSectorBytes;
    const auto end = sectors.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(sectors.begin(), end);
    const auto different = std::unique(sectors.begin(), end) - sectors.begin();
    return (static_cast<unsigned>(different) + kSectorsPerLine - 1) / kSectorsPerLine;
}

void coalesce_local(const sass::Access& access, std::uint32_t lanes, const LocalPlace& place,
                    LineAccesses& out) {
    constexpr unsigned kWord = 4;
    constexpr unsigned kLanesPerSector = kSectorBytes / kWord;
    const unsigned words = std::max(1u, access.width / kWord);
    const bool whole_words = access.width >= kWord;
    out.count = 0;
    out.is_regular = out.is_uniform = false;
    if (lanes == 0) return;

    const std::uint64_t offset = access.address[std::countr_zero(lanes)];
    if (sass::is_consecutive(access.address, offset, 0, lanes)) {
        out.is_regular = true;
        LineAccess line;
        for (unsigned s = 0; s < kSectorsPerLine; ++s) {
            const std::uint32_t in_sector = lanes >> (s * kLanesPerSector) & 0xffu;
            const auto bit = static_cast<std::uint8_t>(1u << s);
            if (in_sector != 0) line.sectors |= bit;
            if (in_sector != 0 && (in_sector != 0xffu || !whole_words)) line.partial |= bit;
            if (whole_words)
                line.halves |= std::uint64_t{halves_of_words(in_sector)} << (s * kSectorHalves);
        }
        for (unsigned i = 0; i < words; ++i) {
            line.line = place.line_of(offset / kWord + i);
            out.line[out.count++] = line;
        }
        return;
    }
    LineFinder finder(out);
    std::uint8_t written[LineAccesses::kCapacity][kSectorsPerLine];  // lanes, by line and sector
    for_each_lane(lanes, [&](unsigned l) {
        for (unsigned i = 0; i < words; ++i) {
            const unsigned before = out.count;
            const unsigned at = finder.find(place.line_of(access.address[l] / kWord + i));
            if (out.count != before) std::fill_n(written[at], kSectorsPerLine, std::uint8_t{0});
            written[at][l / kLanesPerSector] |=
                static_cast<std::uint8_t>(1u << (l % kLanesPerSector));
            out.line[at].sectors |= static_cast<std::uint8_t>(1u << (l / kLanesPerSector));
        }
    });
    for (unsigned i = 0; i < out.count; ++i)
        for (unsigned s = 0; s < kSectorsPerLine; ++s)
            if (written[i][s] != 0 && (written[i][s] != 0xffu || !whole_words)) {
                out.line[i].partial |= static_cast<std::uint8_t>(1u << s);
                if (whole_words)
                    out.line[i].halves |= std::uint64_t{halves_of_words(written[i][s])}
                                          << (s * kSectorHalves);
            }
}

}  // namespace lockstep::gpu
