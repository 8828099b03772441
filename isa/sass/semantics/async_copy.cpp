// SPDX-License-Identifier: Apache-2.0
// LDGSTS (cp.async): global to shared memory without registers. The hardware copies in the
// background and the program waits by DEPBAR or mbarrier; here the copy is done at once, so that
// waiting finds it done. Lanes whose predicate is false get zeros. With .ZFILL (a byte count known
// at run time) the compiler adds 16 - count to the address: the low bits say how many bytes at the
// end to zero instead of copy. Both read off what the compiler emits.
#include "isa/sass/semantics/async_copy.h"

#include <algorithm>
#include <cstring>

#include "isa/sass/semantics/access.h"

namespace lockstep::sass {

namespace {

// Instruction::modifiers above the address: offset in shared memory (20 bits, signed), .ZFILL.
constexpr std::uint32_t kZeroFill = 1u << 31;
constexpr unsigned kSharedOffsetBits = 20;

/// Copies `bytes` of a lane's element and zeroes the rest.
template <unsigned kWidth>
void copy_element(std::byte* to, const std::byte* from, std::uint64_t bytes) {
    if (bytes == kWidth) [[likely]] {
        std::memcpy(to, from, kWidth);
    } else {
        std::memcpy(to, from, bytes);
        std::memset(to + bytes, 0, kWidth - bytes);
    }
}

template <unsigned kWidth>
void execute_ldgsts(const Instruction& in, Warp& warp) {
    const std::uint32_t mask = warp.mask;
    const std::uint32_t enabled = mask & warp.read(in.ps[0]);
    Access& access = warp.access;

    // Destinations first: they stay in access.copy_to while the sources take their place.
    const std::uint32_t offset = static_cast<std::uint32_t>(
        static_cast<std::int32_t>(in.modifiers << (32 - kAddressBits - kSharedOffsetBits)) >>
        (32 - kSharedOffsetBits));
    const Row& b = warp.row(in.b);
    const std::uint32_t uniform = warp.row(in.c).lane[0];
    for (unsigned l = 0; l < kWarpSize; ++l)
        access.address[l] = access.copy_to[l] = b.lane[l] + uniform + offset;
    note_access(warp, Space::kShared, Direction::kStore, kWidth);
    const Target to = shared_target(warp, kWidth, Direction::kStore);
    if (warp.cta->cluster_rank != 0)
        for (unsigned l = 0; l < kWarpSize; ++l)
            access.copy_to[l] = static_cast<std::uint32_t>(access.address[l]);
    const auto destination = [&](unsigned l) { return host_at(to.base, access.copy_to[l]); };

    for_each_lane(mask & ~enabled, [&](unsigned l) { std::memset(destination(l), 0, kWidth); });
    compute_addresses(in, warp);
    std::uint64_t bytes[kWarpSize];
    const bool partial = in.modifiers & kZeroFill;
    if (partial) {
        for (unsigned l = 0; l < kWarpSize; ++l) {
            bytes[l] = kWidth - access.address[l] % kWidth;
            access.address[l] -= access.address[l] % kWidth;
        }
    }
    warp.mask = enabled;
    note_access(warp, Space::kGlobal, Direction::kLoad, kWidth);
    if (enabled != 0) {
        const Target from = global_target(in, warp, kWidth, Direction::kLoad);
        if (needs_gathering(warp, from, kWidth)) [[unlikely]] {
            std::byte block[kWarpSize * kWidth];
            gather_global(warp, from, kWidth, block);
            for_each_lane(enabled, [&](unsigned l) {
                copy_element<kWidth>(destination(l), block + l * kWidth,
                                     partial ? bytes[l] : kWidth);
            });
        } else if (enabled == kAllLanes && !partial && from.pattern == Pattern::kConsecutive &&
                   to.pattern == Pattern::kConsecutive) [[likely]] {
            std::memcpy(destination(0), host_at(from.base, access.address[0]),
                        std::size_t{kWidth} * kWarpSize);
        } else {
            for_each_lane(enabled, [&](unsigned l) {
                copy_element<kWidth>(destination(l), host_at(from.base, access.address[l]),
                                     partial ? bytes[l] : kWidth);
            });
        }
    }
    warp.mask = mask;
}

bool bind_ldgsts(Binder& binder) {
    const Word& word = binder.word;
    Instruction& out = binder.out;
    switch (word.bits(73, 3)) {
        case 4:
            out.execute = execute_ldgsts<4>;
            out.width = 4;
            break;
        case 5:
            out.execute = execute_ldgsts<8>;
            out.width = 8;
            break;
        case 6:
            out.execute = execute_ldgsts<16>;
            out.width = 16;
            break;
        default:
            return false;
    }
    out.ps[0] = binder.source_predicate(87, 90);
    out.b = binder.source_register(16);
    const bool wide = word.bit(70);
    out.a = binder.source_register(24, wide ? 2 : 1);
    AddressForm form = AddressForm::k64;
    if (word.form() == 6) {  // [R+UR+offset], desc[UR][R.64+offset]
        if (!wide) return false;
        out.c = binder.source_uniform(64);
    } else if (!word.bit(76)) {  // no descriptor: UR is part of the global address
        out.d2 = binder.source_uniform(64, 2);
        form = wide ? AddressForm::k64PlusUniform : AddressForm::kIndexed;
    }
    set_address(binder, form, word.signed_bits(32, 12));
    out.modifiers |= static_cast<std::uint32_t>(word.bits(44, kSharedOffsetBits)) << kAddressBits;
    if (word.bit(82)) out.modifiers |= kZeroFill;
    return true;
}

/// Copies are done when they are issued: there is nothing to commit or to wait for.
bool bind_nothing(Binder& binder) {
    binder.out.execute = [](const Instruction&, Warp&) {};
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x03b, bind_ldsm, 75},     {0x044, bind_stsm, 90},         {0x1a7, bind_syncs_transaction, 90},
    {0x1ae, bind_ldgsts, 80},   {0x1af, bind_nothing, 80},  // LDGDEPBAR
    {0x1b0, bind_arrives, 80},  {0x1b1, bind_syncs_access, 90}, {0x1b2, bind_syncs_uniform, 90},
    {0x11a, bind_depbar},       {0x1b4, bind_utmaldg, 90},      {0x1b5, bind_utmastg, 90},
    {0x1b6, bind_utmaredg, 90}, {0x1b7, bind_utmacmdflush, 90}, {0x1b8, bind_utmapf, 90},
    {0x1b9, bind_utmacctl, 90}, {0x1ba, bind_ublkcp, 90},       {0x1bb, bind_ublkred, 90},
    {0x1bc, bind_ublkpf, 90},
};

}  // namespace

std::span<const BindEntry> async_copy_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
