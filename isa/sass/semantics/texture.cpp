// SPDX-License-Identifier: Apache-2.0
// TEX, TLD, TLD4 and TXD: a texture object read at a point, at integer coordinates, its four
// neighbours, or with derivatives that choose the level. Operands as ptxas 13 lays them out for
// sm_75 to sm_90: a list of coordinates (the layer first, of TXD last), then the handle where a
// register holds it (of TXD first), level and offsets. Without .SCR the coordinates stand at 24 and
// the rest at 32; with .SCR the list is halved, the longer half first. Channels of the mask go to
// two pairs of registers, at 16 and at 64. Not executed: depth comparison, results of 16 bits,
// biased and clamped levels, sparse textures' predicate.
#include <fmt/format.h>

#include <bit>

#include "isa/sass/binder.h"
#include "isa/sass/semantics/access.h"
#include "isa/sass/semantics/lanes.h"
#include "isa/sass/semantics/texture_handle.h"
#include "isa/sass/texture/footprint.h"

namespace lockstep::sass {

namespace {

enum class Lookup : std::uint8_t { kSample, kFetch, kGather, kDerivatives };

/// What binding leaves in Instruction::modifiers.
struct Fields {
    Lookup lookup;
    TextureShape shape;
    std::uint8_t mask;       ///< of channels
    std::uint8_t at_a;       ///< operands in the block at a; the rest are at b
    std::uint8_t component;  ///< of TLD4
    bool has_level, has_offset, has_handle;

    std::uint32_t pack() const {
        return static_cast<std::uint32_t>(lookup) | static_cast<std::uint32_t>(shape) << 2 |
               std::uint32_t{mask} << 5 | std::uint32_t{at_a} << 9 |
               std::uint32_t{component} << 12 | std::uint32_t{has_level} << 14 |
               std::uint32_t{has_offset} << 15 | std::uint32_t{has_handle} << 16;
    }
    static Fields unpack(std::uint32_t m) {
        return {.lookup = static_cast<Lookup>(m & 3),
                .shape = static_cast<TextureShape>(m >> 2 & 7),
                .mask = static_cast<std::uint8_t>(m >> 5 & 15),
                .at_a = static_cast<std::uint8_t>(m >> 9 & 7),
                .component = static_cast<std::uint8_t>(m >> 12 & 3),
                .has_level = (m >> 14 & 1) != 0,
                .has_offset = (m >> 15 & 1) != 0,
                .has_handle = (m >> 16 & 1) != 0};
    }
};

/// A lane's operands, one after the other.
class Operands {
  public:
    Operands(const Instruction& in, const Warp& warp, unsigned at_a)
        : a_(&warp.row(in.a)), b_(&warp.row(in.b)), at_a_(at_a) {}
    void begin(unsigned lane) { lane_ = lane, next_ = 0; }
    std::uint32_t word() {
        const unsigned i = next_++;
        return i < at_a_ ? a_[i].lane[lane_] : b_[i - at_a_].lane[lane_];
    }
    float real() { return std::bit_cast<float>(word()); }

  private:
    const Row* a_;
    const Row* b_;
    unsigned at_a_, lane_ = 0, next_ = 0;
};

/// Offsets are packed by four bits an axis.
void set_offsets(std::uint32_t packed, std::int32_t (&offset)[3]) {
    for (unsigned d = 0; d < 3; ++d)
        offset[d] = static_cast<std::int32_t>(packed << (28 - 4 * d)) >> 28;
}

/// What the lane reads, and from which texture.
struct LaneLookup {
    const Texture* texture;
    Taps taps;
};

LaneLookup look_up(const Instruction& in, const Warp& warp, const Fields& fields,
                   Operands& operands, TextureHandles& handles, unsigned lane) {
    operands.begin(lane);
    const unsigned axes = dimensions(fields.shape);
    const bool is_txd = fields.lookup == Lookup::kDerivatives;  // handle first, layer last
    std::uint32_t handle = fields.has_handle ? 0 : warp.row(in.c).lane[lane];
    if (fields.has_handle && is_txd) handle = operands.word();
    TexturePoint point;
    if (is_layered(fields.shape) && !is_txd) point.layer = operands.word();
    std::uint32_t coordinate[3] = {};
    for (unsigned d = 0; d < axes; ++d) coordinate[d] = operands.word();
    if (is_layered(fields.shape) && is_txd) point.layer = operands.word() & 0xffff;
    if (fields.has_handle && !is_txd) handle = operands.word();
    const Texture& texture = handles.find(warp, lane, handle);
    if (fields.lookup == Lookup::kFetch) {
        const std::uint32_t level = fields.has_level ? operands.word() : 0;
        if (fields.has_offset) set_offsets(operands.word(), point.offset);
        std::int32_t at[3] = {};
        for (unsigned d = 0; d < axes; ++d)
            at[d] = static_cast<std::int32_t>(coordinate[d]) + point.offset[d];
        return {&texture, fetched(texture, fields.shape, at, point.layer, level)};
    }
    for (unsigned d = 0; d < axes; ++d) point.coordinate[d] = std::bit_cast<float>(coordinate[d]);
    if (is_txd) {
        float dx[3] = {}, dy[3] = {};
        const Row* const b = &warp.row(in.b);
        for (unsigned d = 0; d < axes; ++d) {
            dx[d] = std::bit_cast<float>(b[2 * d].lane[lane]);
            dy[d] = std::bit_cast<float>(b[2 * d + 1].lane[lane]);
        }
        point.level = level_of(texture, axes, dx, dy);
        return {&texture, sampled(texture, fields.shape, point)};
    }
    if (fields.has_level) point.level = operands.real();
    if (fields.has_offset) set_offsets(operands.word(), point.offset);
    if (fields.lookup == Lookup::kGather) return {&texture, gathered(texture, fields.shape, point)};
    return {&texture, sampled(texture, fields.shape, point)};
}

/// The taps' texels: one as it is, several weighted.
Texel blend(const Instruction& in, const Warp& warp, const LaneLookup& lookup, unsigned lane) {
    const Texture& texture = *lookup.texture;
    const auto texel_of = [&](const Tap& tap) {
        return tap.is_border
                   ? border_texel(texture)
                   : read_texel(texture, *tap.image,
                                texel_host(in, warp, lane, tap.address, tap.image->texel_bytes()));
    };
    if (lookup.taps.count == 0) return {};
    if (lookup.taps.count == 1) return texel_of(lookup.taps.tap[0]);
    double sum[4] = {};
    for (unsigned i = 0; i < lookup.taps.count; ++i) {
        const Tap& tap = lookup.taps.tap[i];
        if (tap.weight == 0) continue;
        const Texel texel = texel_of(tap);
        for (unsigned c = 0; c < 4; ++c)
            sum[c] += tap.weight * static_cast<double>(std::bit_cast<float>(texel.channel[c]));
    }
    Texel result;
    for (unsigned c = 0; c < 4; ++c)
        result.channel[c] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[c]));
    return result;
}

Texel gather(const Instruction& in, const Warp& warp, const LaneLookup& lookup, unsigned component,
             unsigned lane) {
    Texel result;
    for (unsigned i = 0; i < lookup.taps.count; ++i) {
        const Tap& tap = lookup.taps.tap[i];
        const Texel texel =
            tap.is_border
                ? border_texel(*lookup.texture)
                : read_texel(*lookup.texture, *tap.image,
                             texel_host(in, warp, lane, tap.address, tap.image->texel_bytes()));
        result.channel[i] = texel.channel[component];
    }
    return result;
}

/// For timing: the texels whose weight is not 0.
void note(const Taps& taps, unsigned lane, TexelFootprint& footprint) {
    unsigned n = 0;
    for (unsigned i = 0; i < taps.count; ++i) {
        const Tap& tap = taps.tap[i];
        if (tap.is_border || tap.weight == 0) continue;
        if (n == footprint.taps) footprint.lanes[footprint.taps++] = 0;
        footprint.lanes[n] |= 1u << lane;
        footprint.address[n++][lane] = tap.timed_address;
        footprint.texel_bytes = static_cast<std::uint8_t>(tap.image->texel_bytes());
    }
}

void execute_texture(const Instruction& in, Warp& warp) {
    const Fields fields = Fields::unpack(in.modifiers);
    Operands operands(in, warp, fields.at_a);
    TextureHandles handles;
    TexelFootprint* const footprint = warp.cta->texels;
    if (footprint != nullptr) {
        footprint->taps = 0;
        footprint->texel_bytes = 1;
        note_access(warp, Space::kGlobal, Direction::kLoad, in.width);
    }
    Row result[4];
    for_each_lane(warp.mask, [&](unsigned l) {
        const LaneLookup lookup = look_up(in, warp, fields, operands, handles, l);
        const Texel texel = fields.lookup == Lookup::kGather
                                ? gather(in, warp, lookup, fields.component, l)
                                : blend(in, warp, lookup, l);
        if (footprint != nullptr) note(lookup.taps, l, *footprint);
        unsigned to = 0;
        for (unsigned c = 0; c < 4; ++c)
            if (fields.mask >> c & 1) result[to++].lane[l] = texel.channel[c];
    });
    if (footprint != nullptr && footprint->taps == 0) warp.access.lanes = 0;
    const auto count = static_cast<unsigned>(std::popcount(fields.mask));
    for (unsigned i = 0; i < count; ++i) {
        Row* const d = &warp.row(i < 2 ? in.d : in.d2);
        const bool is_sink = (i < 2 ? in.d : in.d2) == Operand::of_warp(kSinkRow);
        copy_lanes(d[is_sink ? 0 : i % 2], result[i], warp.mask);
    }
}

bool bind(Binder& binder, Lookup lookup, bool handle_in_register) {
    const Word& word = binder.word;
    constexpr unsigned kNoLevel = 0, kLevelZero = 1, kLevel = 3;
    Fields fields{};
    fields.lookup = lookup;
    const auto shape = static_cast<unsigned>(word.bits(61, 3));
    constexpr TextureShape kShapes[] = {TextureShape::k1D,        TextureShape::k2D,
                                        TextureShape::k3D,        TextureShape::kCube,
                                        TextureShape::k1DLayered, TextureShape::k2DLayered,
                                        TextureShape::k1D,        TextureShape::kCubeLayered};
    constexpr unsigned kInvalidShape = 6;
    if (shape == kInvalidShape || word.bits(81, 3) != kPredicatePT || word.bits(79, 2) != 0 ||
        word.bit(77) || word.bit(78))
        return false;
    fields.shape = kShapes[shape];
    fields.mask = static_cast<std::uint8_t>(word.bits(72, 4));
    fields.has_offset = word.bit(76);
    if (lookup == Lookup::kGather) {
        fields.component = static_cast<std::uint8_t>(word.bits(87, 2));
    } else if (lookup == Lookup::kDerivatives) {
        if (fields.has_offset || word.bit(87)) return false;
    } else {
        const auto mode = word.bits(87, 3);
        if (mode != kNoLevel && mode != kLevelZero && mode != kLevel) return false;
        fields.has_level = mode == kLevel;
    }
    fields.has_handle = handle_in_register && word.bit(59);
    if (handle_in_register && !word.bit(59)) return false;

    Instruction& out = binder.out;
    unsigned coordinates = dimensions(fields.shape) + is_layered(fields.shape);
    unsigned others = unsigned{fields.has_level} + fields.has_offset;
    if (lookup == Lookup::kDerivatives) {
        coordinates += fields.has_handle;
        if (word.bit(60)) return false;
    } else {
        others += fields.has_handle;
    }
    const unsigned all = coordinates + others;
    const bool is_halved = word.bit(60) && lookup != Lookup::kDerivatives;
    fields.at_a = static_cast<std::uint8_t>(is_halved ? all - all / 2 : coordinates);
    const unsigned at_b =
        lookup == Lookup::kDerivatives ? 2 * dimensions(fields.shape) : all - fields.at_a;
    if (word.bits(24, 8) == kRegisterRZ && fields.at_a > 1) return false;
    if (word.bits(32, 8) == kRegisterRZ && at_b > 1) return false;
    out.a = binder.source_register(24, fields.at_a);
    out.b = at_b == 0 ? Operand::of_warp(kZeroRow) : binder.source_register(32, at_b);
    out.c = handle_in_register ? Operand::of_warp(kZeroRow) : bind_handle(binder);
    const auto results = static_cast<unsigned>(std::popcount(fields.mask));
    out.d =
        results == 0 ? Operand::of_warp(kSinkRow) : binder.dest_register(16, std::min(results, 2u));
    out.d2 = results <= 2 ? Operand::of_warp(kSinkRow) : binder.dest_register(64, results - 2);
    out.width = static_cast<std::uint8_t>(4 * std::max(results, 1u));
    out.modifiers = fields.pack();
    out.execute = execute_texture;
    return true;
}

template <Lookup lookup, bool handle_in_register>
bool bind_texture(Binder& binder) {
    return bind(binder, lookup, handle_in_register);
}

constexpr BindEntry kEntries[] = {
    {0x160, bind_texture<Lookup::kSample, false>},
    {0x161, bind_texture<Lookup::kSample, true>},
    {0x163, bind_texture<Lookup::kGather, false>},
    {0x164, bind_texture<Lookup::kGather, true>},
    {0x166, bind_texture<Lookup::kFetch, false>},
    {0x167, bind_texture<Lookup::kFetch, true>},
    {0x16c, bind_texture<Lookup::kDerivatives, false>},
    {0x16d, bind_texture<Lookup::kDerivatives, true>},
    {0x199, bind_surface_load<false>},
    {0x19a, bind_surface_load<true>},
    {0x19d, bind_surface_store<false>},
    {0x19e, bind_surface_store<true>},
};

}  // namespace

std::span<const BindEntry> texture_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
