// SPDX-License-Identifier: Apache-2.0
// LDC: loads from a constant bank at a register's offset. The bank is what the launch set up; bytes
// past its end are zero: ptxas moves such loads in front of the branch that guards them, so that
// they must not fault. Constants at fixed offsets become literals and cost nothing.
#include <algorithm>
#include <cstring>
#include <limits>

#include "isa/sass/semantics/access.h"
#include "isa/sass/semantics/memory.h"

namespace lockstep::sass {

namespace {

template <Size S>
void load_padded(const Instruction& in, Warp& warp, std::span<const std::byte> bank) {
    using E = Element<S>;
    for_each_lane(warp.mask, [&](unsigned l) {
        const std::uint64_t begin = std::min<std::uint64_t>(warp.access.address[l], bank.size());
        std::byte element[E::kBytes] = {};
        std::copy_n(bank.begin() + static_cast<std::ptrdiff_t>(begin),
                    std::min<std::uint64_t>(E::kBytes, bank.size() - begin), element);
        E::load(&warp.row(in.d), l, element);
    });
}

template <Size S>
void execute_ldc(const Instruction& in, Warp& warp) {
    using E = Element<S>;
    compute_addresses(in, warp);
    note_access(warp, Space::kConstant, Direction::kLoad, E::kBytes);
    const std::span<const std::byte> bank =
        warp.cta->launch->constant[in.modifiers >> kAddressBits];
    const std::uint64_t* const address = warp.access.address;
    const AddressRange range = range_of(address, 0, warp.mask);
    if (range.bits % E::kBytes != 0) [[unlikely]]
        check_bounded(warp, E::kBytes, Direction::kLoad, Space::kConstant,
                      std::numeric_limits<std::uint64_t>::max());
    if (range.largest + E::kBytes > bank.size()) [[unlikely]]
        return load_padded<S>(in, warp, bank);
    const std::uint64_t first = address[std::countr_zero(warp.mask)];
    load_lanes<S>(
        in, warp, reinterpret_cast<std::uintptr_t>(bank.data()),
        is_consecutive(address, first, 0, warp.mask) ? Pattern::kUniform : Pattern::kScattered);
}

void execute_literal(const Instruction& in, Warp& warp) {
    copy_lanes(warp.row(in.d), warp.row(in.b), warp.mask);
}

void execute_literal64(const Instruction& in, Warp& warp) {
    Row* const d = &warp.row(in.d);
    const Row* const b = &warp.row(in.b);
    copy_lanes(d[0], b[0], warp.mask);
    copy_lanes(d[1], b[1], warp.mask);
}

}  // namespace

bool bind_ldc(Binder& binder) {
    constexpr Execute kLdc[] = {execute_ldc<Size::kU8>,  execute_ldc<Size::kS8>,
                                execute_ldc<Size::kU16>, execute_ldc<Size::kS16>,
                                execute_ldc<Size::k32>,  execute_ldc<Size::k64>};
    const Word& word = binder.word;
    const auto size = static_cast<unsigned>(word.bits(73, 3));
    // Form 2 is cx[UR][R]; modes .IL .IS .ISL (bits 78-79) split the register into bank and offset.
    if (word.form() != 5 || size >= std::size(kLdc) || word.bits(78, 2) != 0) return false;
    Instruction& out = binder.out;
    const unsigned rows = rows_of(static_cast<Size>(size));
    const auto bank = static_cast<unsigned>(word.bits(54, 5));
    const auto offset = static_cast<std::uint32_t>(word.bits(38, 16));
    out.width = kSizeBytes[size];
    out.d = binder.dest_register(16, rows);
    if (word.bits(24, 8) == kRegisterRZ && out.width >= 4) {
        out.b = binder.constant(bank, offset, rows);
        out.execute = rows == 1 ? execute_literal : execute_literal64;
        return true;
    }
    out.a = binder.source_register(24);
    // With a register the offset is signed: unoptimised code reads its tables of jumps at
    // c[0x2][R + -0x8000].
    const bool has_register = word.bits(24, 8) != kRegisterRZ;
    set_address(binder, AddressForm::k32,
                has_register ? word.signed_bits(38, 16) : std::int64_t{offset});
    out.modifiers |= bank << kAddressBits;
    out.execute = kLdc[size];
    return true;
}

}  // namespace lockstep::sass
