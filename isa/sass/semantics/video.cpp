// SPDX-License-Identifier: Apache-2.0
// Video instructions: absolute differences (VABSDIFF, VABSDIFF4) and saturating conversion between
// integer types (I2I, I2IP). Not executed: I2IP without saturation. Sources: PTX ISA (sad,
// vabsdiff4, cvt.sat, cvt.pack).
#include <algorithm>
#include <limits>

#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

/// |a - b| + c.
template <typename T>
void execute_vabsdiff(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    write_lanes(warp, in.d, [&](unsigned l) {
        const std::uint32_t difference = a.lane[l] - b.lane[l];
        const bool less = static_cast<T>(a.lane[l]) < static_cast<T>(b.lane[l]);
        return (less ? 0u - difference : difference) + c.lane[l];
    });
}

bool bind_vabsdiff(Datapath path) {
    if (path.dest_predicate(81) != kPredicateSink) return false;
    path.dest();
    path.sources_abc();
    return path.execute(path.word.bit(73) ? execute_vabsdiff<std::int32_t>
                                          : execute_vabsdiff<std::uint32_t>);
}

template <bool kSigned>
std::int32_t byte_of(std::uint32_t packed, unsigned i) {
    const std::uint32_t raised = packed << (24 - 8 * i);
    return kSigned ? static_cast<std::int32_t>(raised) >> 24
                   : static_cast<std::int32_t>(raised >> 24);
}

/// The absolute differences of four bytes: packed, or summed and added to c (.ACC). Packed ones
/// leave c unused: in PTX it holds the bytes that a mask leaves out, for which ptxas writes other
/// instructions, yet it passes c on.
template <bool kSigned, bool kAccumulate>
void execute_vabsdiff4(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    write_lanes(warp, in.d, [&](unsigned l) {
        std::uint32_t result = kAccumulate ? c.lane[l] : 0;
        for (unsigned i = 0; i < 4; ++i) {
            const std::int32_t x = byte_of<kSigned>(a.lane[l], i);
            const std::int32_t y = byte_of<kSigned>(b.lane[l], i);
            const auto difference = static_cast<std::uint32_t>(x < y ? y - x : x - y);
            result += kAccumulate ? difference : difference << (8 * i);
        }
        return result;
    });
}

bool bind_vabsdiff4(Datapath path) {
    if (path.dest_predicate(81) != kPredicateSink) return false;
    path.dest();
    path.sources_abc();
    const bool is_signed = path.word.bit(73);
    if (path.word.bit(75))
        return path.execute(is_signed ? execute_vabsdiff4<true, true>
                                      : execute_vabsdiff4<false, true>);
    return path.execute(is_signed ? execute_vabsdiff4<true, false>
                                  : execute_vabsdiff4<false, false>);
}

template <typename T>
void execute_i2i(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) {
        const auto value = static_cast<std::int32_t>(b.lane[l]);
        return static_cast<std::uint32_t>(std::clamp<std::int32_t>(
            value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    });
}

bool bind_i2i(Datapath path) {
    path.dest();
    path.source_b();
    constexpr Execute kByType[] = {execute_i2i<std::uint8_t>, execute_i2i<std::int8_t>,
                                   execute_i2i<std::uint16_t>, execute_i2i<std::int16_t>};
    return path.execute(kByType[path.word.bits(76, 2)]);
}

/// I2IP d, a, b, c: a and b saturated to kBits side by side, b lowest; the rest is c's low part.
template <unsigned kBits, bool kSigned>
void execute_i2ip(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    constexpr std::int32_t kMinimum = kSigned ? -(1 << (kBits - 1)) : 0;
    constexpr std::int32_t kMaximum = (1 << (kSigned ? kBits - 1 : kBits)) - 1;
    constexpr std::uint32_t kMask = (1u << kBits) - 1;
    write_lanes(warp, in.d, [&](unsigned l) {
        const auto part = [&](std::uint32_t x) {
            return static_cast<std::uint32_t>(
                       std::clamp(static_cast<std::int32_t>(x), kMinimum, kMaximum)) &
                   kMask;
        };
        const std::uint32_t packed = part(b.lane[l]) | part(a.lane[l]) << kBits;
        return kBits == 16 ? packed : packed | c.lane[l] << (2 * kBits % 32);
    });
}

/// `saturates`: what bits 74-75 say of it, which means nothing else before sm_90.
template <unsigned saturates>
bool bind_i2ip(Datapath path) {
    path.dest();
    path.sources_abc();
    const auto saturation = path.word.bits(74, 2), type = path.word.bits(76, 3);
    const auto part_of_c = path.word.bits(72, 2);
    if (saturation != saturates) return false;
    constexpr Execute kByType[] = {execute_i2ip<8, false>,  execute_i2ip<8, true>,
                                   execute_i2ip<16, false>, execute_i2ip<16, true>,
                                   execute_i2ip<2, false>,  execute_i2ip<2, true>,
                                   execute_i2ip<4, false>,  execute_i2ip<4, true>};
    // How much of c is kept is a field of its own; it always agrees with the type.
    constexpr unsigned kPart[] = {0, 0, 0, 0, 3, 3, 2, 2};
    return part_of_c == kPart[type] && path.execute(kByType[type]);
}

constexpr BindEntry kEntries[] = {
    {0x014, on_vector<bind_vabsdiff>},
    {0x015, on_vector<bind_vabsdiff4>},
    {0x038, on_vector<bind_i2i>},
    {0x039, on_vector<bind_i2ip<0>>, 75, 89},
    {0x039, on_vector<bind_i2ip<1>>, 90, 90},
};

}  // namespace

std::span<const BindEntry> video_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
