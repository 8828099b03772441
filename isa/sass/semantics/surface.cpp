// SPDX-License-Identifier: Apache-2.0
// SULD.D and SUST.D: loads and stores of a surface object's bytes. The x coordinate counts bytes
// (.BA), layers come last. Coordinates beyond the surface fault (.TRAP), are clamped, or are left
// out (.IGN: loads read 0). Loads see the thread's own stores. Not executed: formatted accesses
// (.P), atomics.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "isa/sass/semantics/access.h"
#include "isa/sass/semantics/lanes.h"
#include "isa/sass/semantics/texture_handle.h"
#include "isa/sass/store_buffer.h"
#include "isa/sass/texture/footprint.h"

namespace lockstep::sass {

namespace {

enum class Beyond : std::uint8_t { kIgnore, kClamp, kTrap };  // bits 59-60

/// Coordinates of a shape (bits 61-63): 1D, 1D_BUFFER, 1D_ARRAY, 2D, 2D_ARRAY, 3D.
constexpr unsigned kCoordinates[] = {1, 1, 2, 2, 3, 3};
/// Which axis a coordinate is of: layers are slices.
constexpr unsigned kAxes[6][3] = {{0}, {0}, {0, 2}, {0, 1}, {0, 1, 2}, {0, 1, 2}};

struct Fields {
    std::uint8_t shape;
    Beyond beyond;
    bool is_signed, has_handle;
    std::uint32_t pack() const {
        return shape | static_cast<std::uint32_t>(beyond) << 3 | std::uint32_t{is_signed} << 5 |
               std::uint32_t{has_handle} << 6;
    }
    static Fields unpack(std::uint32_t m) {
        return {static_cast<std::uint8_t>(m & 7), static_cast<Beyond>(m >> 3 & 3),
                (m >> 5 & 1) != 0, (m >> 6 & 1) != 0};
    }
};

constexpr unsigned kWidths[] = {1, 1, 2, 2, 4, 8, 16};

/// Finds the lanes' addresses, in warp.access.address; returns the lanes that access something.
/// `timed`: what the machine that times it sees.
std::uint32_t find_addresses(const Instruction& in, Warp& warp, const Fields& fields,
                             std::uint64_t (&timed)[kWarpSize]) {
    const Row* const coordinate = &warp.row(in.a);
    const Row& handle = warp.row(in.c);
    TextureHandles handles;
    std::uint32_t lanes = 0;
    const unsigned count = kCoordinates[fields.shape];
    for_each_lane(warp.mask, [&](unsigned l) {
        const Texture& surface = handles.find(warp, l, handle.lane[l]);
        const Image& image = surface.levels.front();
        const std::int64_t row_bytes = std::int64_t{image.width} * image.texel_bytes();
        const std::int64_t size[3] = {row_bytes, image.height, image.depth};
        std::int64_t at[3] = {0, 0, 0};
        bool is_beyond = false;
        for (unsigned i = 0; i < count; ++i) {
            const unsigned d = kAxes[fields.shape][i];
            const std::int64_t last = size[d] - (d == 0 ? in.width : 1);
            at[d] = static_cast<std::int32_t>(coordinate[i].lane[l]);
            if (at[d] >= 0 && at[d] <= last) continue;
            is_beyond = true;
            at[d] = std::clamp<std::int64_t>(at[d], 0, std::max<std::int64_t>(last, 0));
        }
        if (is_beyond && fields.beyond == Beyond::kTrap)
            throw Fault{.kind = FaultKind::kIllegalAddress,
                        .what = fmt::format("a coordinate lies outside the surface of {} bytes by "
                                            "{} by {}",
                                            size[0], size[1], size[2]),
                        .lane = l,
                        .bytes = in.width};
        if (is_beyond && fields.beyond == Beyond::kIgnore) return;
        if (at[0] % in.width != 0)
            throw Fault{.kind = FaultKind::kMisalignedAddress,
                        .what = fmt::format("x of a surface access is {}, not a multiple of {}",
                                            at[0], in.width),
                        .lane = l,
                        .bytes = in.width};
        lanes |= 1u << l;
        const auto y = static_cast<std::uint32_t>(at[1]), z = static_cast<std::uint32_t>(at[2]);
        const auto x = static_cast<std::uint64_t>(at[0]);
        warp.access.address[l] = image.address_of(0, y, z) + x;
        const auto texel = static_cast<std::uint32_t>(x / image.texel_bytes());
        timed[l] = image.timed_address_of(texel, y, z) + x % image.texel_bytes();
    });
    return lanes;
}

void note(Warp& warp, Direction direction, unsigned width, std::uint32_t lanes,
          const std::uint64_t (&timed)[kWarpSize]) {
    note_access(warp, Space::kGlobal, direction, width);
    warp.access.lanes = lanes;
    std::copy(std::begin(timed), std::end(timed), warp.access.address);
}

void execute_load(const Instruction& in, Warp& warp) {
    const Fields fields = Fields::unpack(in.modifiers);
    std::uint64_t timed[kWarpSize];
    const std::uint32_t lanes = find_addresses(in, warp, fields, timed);
    const unsigned rows = std::max(1u, in.width / 4u);
    Row result[4] = {};
    for_each_lane(lanes, [&](unsigned l) {
        const std::uint64_t address = warp.access.address[l];
        std::uint32_t words[4] = {};
        std::byte bytes[16];
        std::memcpy(bytes, texel_host(in, warp, l, address, in.width), in.width);
        if (warp.cta->stores != nullptr) warp.cta->stores->overlay(address, bytes, in.width);
        std::memcpy(words, bytes, in.width);
        if (fields.is_signed) {
            const unsigned unused = 32 - 8 * in.width;
            words[0] = static_cast<std::uint32_t>(static_cast<std::int32_t>(words[0] << unused) >>
                                                  static_cast<int>(unused));
        }
        for (unsigned i = 0; i < rows; ++i) result[i].lane[l] = words[i];
    });
    Row* const d = &warp.row(in.d);
    const bool is_sink = in.d == Operand::of_warp(kSinkRow);
    for (unsigned i = 0; i < rows; ++i) copy_lanes(d[is_sink ? 0 : i], result[i], warp.mask);
    note(warp, Direction::kLoad, in.width, lanes, timed);
    if (warp.cta->texels != nullptr) warp.cta->texels->taps = 0;
}

void execute_store(const Instruction& in, Warp& warp) {
    const Fields fields = Fields::unpack(in.modifiers);
    std::uint64_t timed[kWarpSize];
    const std::uint32_t lanes = find_addresses(in, warp, fields, timed);
    const unsigned rows = std::max(1u, in.width / 4u);
    const Row* const b = &warp.row(in.b);
    const bool is_zero = in.b == Operand::of_warp(kZeroRow);
    for_each_lane(lanes, [&](unsigned l) {
        const std::uint64_t address = warp.access.address[l];
        std::uint32_t words[4] = {};
        for (unsigned i = 0; i < rows; ++i) words[i] = is_zero ? 0 : b[i].lane[l];
        std::byte bytes[16];
        std::memcpy(bytes, words, in.width);
        std::byte* const host = texel_host(in, warp, l, address, in.width);
        if (warp.cta->stores != nullptr)
            warp.cta->stores->write(address, bytes, in.width);
        else
            std::memcpy(host, bytes, in.width);
    });
    note(warp, Direction::kStore, in.width, lanes, timed);
}

bool bind(Binder& binder, bool handle_in_register, bool is_store) {
    const Word& word = binder.word;
    constexpr unsigned kShapes = 6, kSizes = 7, kBeyond = 3, kSignedByte = 1, kSignedHalf = 3;
    const auto shape = static_cast<unsigned>(word.bits(61, 3));
    const auto size = static_cast<unsigned>(word.bits(73, 3));
    const auto beyond = static_cast<unsigned>(word.bits(59, 2));
    // Without .BA x would count elements, which no compiler emits.
    if (shape >= kShapes || size >= kSizes || beyond >= kBeyond || !word.bit(72)) return false;
    if (!is_store && word.bits(81, 3) != kPredicatePT) return false;
    const Fields fields{static_cast<std::uint8_t>(shape), static_cast<Beyond>(beyond),
                        size == kSignedByte || size == kSignedHalf, handle_in_register};
    Instruction& out = binder.out;
    out.width = static_cast<std::uint8_t>(kWidths[size]);
    const unsigned rows = std::max(1u, out.width / 4u);
    const bool is_origin = word.bits(24, 8) == kRegisterRZ;
    if (is_origin && kCoordinates[shape] > 1) return false;
    out.a = binder.source_register(24, kCoordinates[shape]);
    if (is_store)
        out.b = binder.source_register(32, rows);
    else
        out.d = binder.dest_register(16, rows);
    out.c = handle_in_register ? binder.source_register(64) : bind_handle(binder);
    out.modifiers = fields.pack();
    out.execute = is_store ? execute_store : execute_load;
    return true;
}

}  // namespace

template <bool handle_in_register>
bool bind_surface_load(Binder& binder) {
    return bind(binder, handle_in_register, false);
}
template <bool handle_in_register>
bool bind_surface_store(Binder& binder) {
    return bind(binder, handle_in_register, true);
}
template bool bind_surface_load<true>(Binder&);
template bool bind_surface_load<false>(Binder&);
template bool bind_surface_store<true>(Binder&);
template bool bind_surface_store<false>(Binder&);

}  // namespace lockstep::sass
