// SPDX-License-Identifier: Apache-2.0
// MUFU: one function of the multifunction unit (isa/sass/mufu) on a register. The 16-bit types
// are computed in fp32 and truncated to the type; their result fills the low half.
#include "isa/sass/mufu/mufu.h"

#include <cmath>
#include <limits>

#include "isa/sass/binder.h"
#include "isa/sass/semantics/float_types.h"

namespace lockstep::sass {

namespace {

void execute_mufu(const Instruction& in, Warp& warp) {
    const auto function = static_cast<mufu::Function>(in.modifiers);
    const Row& b = warp.row(in.b);
    Row& d = warp.row(in.d);
    const Sign sign = Sign::of(in, 1);
    Row source, result;
    for (unsigned l = 0; l < kWarpSize; ++l) source.lane[l] = sign.apply(b.lane[l]);
    mufu::evaluate_row(function, result.lane, source.lane);
    copy_lanes(d, result, warp.mask);
}

template <unsigned type>
void execute_mufu_half(const Instruction& in, Warp& warp) {
    const auto function = static_cast<mufu::Function>(in.modifiers & 15);
    const FloatSource<type> source(in, warp, in.modifiers >> 4, false);
    Row row;
    for (unsigned l = 0; l < kWarpSize; ++l) row.lane[l] = as_bits(source.value(l));
    mufu::evaluate_row(function, row.lane, row.lane);
    // Truncated only within the type's exponents: beyond them the result is an infinity.
    constexpr float kBeyond = type == kTypeF16 ? 0x1p16f : std::numeric_limits<float>::infinity();
    write_lanes(warp, in.d, [&](unsigned l) {
        const float value = as_float(row.lane[l]);
        const bool is_beyond = std::fabs(value) >= kBeyond;
        return encode_float<type>(
            is_beyond ? std::copysign(std::numeric_limits<float>::infinity(), value) : value,
            numerics::Rounding::kTowardZero);
    });
}

bool bind_mufu(Binder& binder) {
    const Word& word = binder.word;
    constexpr unsigned kLast = 9;
    // Before sm_90 there is no bf16 and bit 73 alone means fp16.
    const auto type = static_cast<unsigned>(binder.arch >= 90 ? word.bits(72, 2)
                                            : word.bit(73)    ? 1
                                                              : 0);
    const auto function = static_cast<unsigned>(word.bits(74, 4));
    const bool is_64h = function == 6 || function == 7;
    if (function > kLast || type > 2 || (type != 0 && is_64h)) return false;
    constexpr unsigned kTypes[] = {kTypeF32, kTypeF16, kTypeBf16};
    std::uint32_t shift = 0;
    if (!bind_float_source(binder, kTypes[type], shift)) return false;
    binder.out.d = binder.dest_register();
    binder.out.modifiers = function | shift << 4;
    constexpr Execute kExecute[] = {execute_mufu, execute_mufu_half<kTypeF16>,
                                    execute_mufu_half<kTypeBf16>};
    binder.out.execute = kExecute[type];
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x108, bind_mufu},
};

}  // namespace

std::span<const BindEntry> mufu_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
