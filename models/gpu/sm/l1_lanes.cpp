// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/l1_lanes.h"

#include <algorithm>

namespace lockstep::gpu {

using enum MemoryOperation;

namespace {

BankAccess bank_access(const sass::Access& access) {
    return access.is_store ? BankAccess::kPlain : BankAccess::kPacked;
}
/// Lanes of a generic access that address shared memory.
std::uint32_t shared_lanes(const sass::Access& access) {
    std::uint32_t lanes = 0;
    for (unsigned l = 0; l < sass::kWarpSize; ++l)
        lanes |= static_cast<std::uint32_t>(access.address[l] / sass::kWindowBytes ==
                                            sass::kSharedWindow / sass::kWindowBytes)
                 << l;
    return lanes & access.lanes;
}

}  // namespace

LocalPlace L1Lanes::local_place(std::uint16_t warp) const {
    // Blocks of all the chip's warp slots lie one after the other; see LocalPlace.
    const std::uint64_t slot = std::uint64_t{sm_} * p_.max_warps + warp;
    return {sass::kLocalWindow / kLineBytes + slot * LocalPlace::kBlockWords,
            std::uint64_t{p_.sms} * p_.max_warps * LocalPlace::kBlockWords};
}

unsigned L1Lanes::merge(const MemoryInstruction& in, LineAccesses& lines) {
    const sass::Access& access = in.access;
    std::uint32_t lanes = access.lanes;
    unsigned cycles = 0;
    if (access.space == sass::Space::kGeneric) {
        const std::uint32_t shared = shared_lanes(access);
        lanes &= ~shared;
        if (shared != 0)
            cycles = shared_.pass_banks(access.address, shared, access.width, !access.is_store,
                                        bank_access(access));
    }
    if (in.texels != nullptr) {
        coalesce_texels(*in.texels, lines);
        return texel_cycles(in);
    }
    if (in.info->operation == kAtomicGlobal || in.info->operation == kReductionGlobal) {
        coalesce_atomic(access, lanes, lines);
    } else if (access.space == sass::Space::kLocal) {
        coalesce_local(access, lanes, local_place(in.warp), lines);
    } else if (in.info->operation == kStoreGlobal) {
        coalesce_store(access, lanes, lines);
    } else {
        coalesce_load(access, lanes, lines);
    }
    return cycles + data_cycles(access, lanes, lines);
}

unsigned L1Lanes::data_cycles(const sass::Access& access, std::uint32_t lanes,
                              const LineAccesses& lines) const {
    if (lanes == 0) return p_.wavefront_cycles;
    if (lines.is_regular && !lines.is_uniform) {
        return p_.wavefront_cycles * (access.space == sass::Space::kLocal
                                          ? lines.count
                                          : ideal_wavefronts(lanes, access.width));
    }
    // Words of 64 bits take two passes even where all lanes load the same one (A100 and H200,
    // gpu-strides).
    return std::max(
        p_.pass_cycles * bank_wavefronts(access.address, lanes, access.width, bank_access(access)),
        p_.wavefront_cycles * ideal_wavefronts(lanes, access.width));
}

/// Texture units sample quads of lanes one after the other and read their texels together.
unsigned L1Lanes::texel_cycles(const MemoryInstruction& in) const {
    unsigned wavefronts = 0;
    for (unsigned first = 0; first < sass::kWarpSize; first += kTextureQuad)
        wavefronts += texel_wavefronts(*in.texels, first);
    return p_.wavefront_cycles * std::max(wavefronts, 1u);
}

/// A sample of more than four texels takes a pass for every four.
unsigned L1Lanes::texture_cycles(const MemoryInstruction& in) const {
    constexpr unsigned kTexelsPerPass = 4;
    unsigned quads = 0;
    for (unsigned first = 0; first < sass::kWarpSize; first += kTextureQuad)
        quads += (in.access.lanes >> first & 15) != 0;
    const unsigned passes =
        in.texels == nullptr ? 1 : std::max(1u, divide_up(in.texels->taps, kTexelsPerPass));
    return std::max(1u, divide_up(quads * kTextureQuad * passes, p_.texture_lanes));
}

unsigned L1Lanes::copy_cycles(const MemoryInstruction& in) {
    std::uint64_t to[sass::kWarpSize];
    std::copy(std::begin(in.access.copy_to), std::end(in.access.copy_to), to);
    return shared_.pass_banks(to, in.access.lanes, in.access.width, false, BankAccess::kPlain);
}

DataPath::Trip L1Lanes::trip_of(const MemoryInstruction& in) const {
    return {
        .return_cycles = divide_up(in.access.width * sass::kWarpSize, p_.return_width),
        .latency = p_.timing(*in.info).result,
        .sub_core = in.sub_core,
        .way = in.info->operation == kCopyAsync ? DataPath::Way::kNone : DataPath::Way::kGlobal};
}

}  // namespace lockstep::gpu
