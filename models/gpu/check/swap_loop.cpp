// SPDX-License-Identifier: Apache-2.0
// Hardware lacks many atomic operations. The compiler makes atomicAdd of floats in shared memory of
// LDS R4, [R2]; FADD R5, R4, x; ATOMS.CAST.SPIN R5, [R2], R4, R5 and a branch back until the swap
// succeeds (observed of nvcc 11 to 13, sm_70 to sm_90); programs write such loops with atomicCAS,
// as the CUDA C++ Programming Guide shows. The load is recognised by the register that the swap
// compares with or by the address, which is often the same operand in both. atomicCAS of 16 bits is
// a swap of the word around them: neither is the same, and a load of 8 or 16 bits is taken for one.
#include "models/gpu/check/swap_loop.h"

#include <algorithm>
#include <optional>

#include "isa/sass/table/op.h"

namespace lockstep::gpu::check {

namespace {

using sass::Op;
using sass::Word;

/// The compare-and-swap of the space that an instruction loads from.
std::optional<Op> swap_after(Op load) {
    switch (load) {
        case Op::kLds:
            return Op::kAtomsCas;
        case Op::kLdg:
            return Op::kAtomgCas;
        case Op::kLd:
            return Op::kAtomCas;
        default:
            return std::nullopt;
    }
}

bool is_narrow(const Word& load) {
    constexpr unsigned kSize = 73, k32Bits = 4;
    return load.bits(kSize, 3) < k32Bits;
}

bool same_address(const Word& load, const Word& swap) {
    constexpr unsigned kRegister = 24, kOffset = 40;
    return load.bits(kRegister, 8) == swap.bits(kRegister, 8) &&
           load.bits(kOffset, 24) == swap.bits(kOffset, 24);
}

bool is_expected(const Word& load, const Word& swap) {
    constexpr unsigned kLoaded = 16, kExpected = 32;
    return load.bits(kLoaded, 8) == swap.bits(kExpected, 8);
}

}  // namespace

bool begins_swap_loop(std::span<const Word> words, std::size_t pc) {
    constexpr std::size_t kNear = 64;  // in between is work on one value, a division at most
    const Word& load = words[pc];
    const std::optional<Op> swap = swap_after(sass::op_of(load));
    if (!swap) return false;
    const std::size_t end = std::min(words.size(), pc + kNear);
    for (std::size_t i = pc + 1; i < end; ++i)
        if (sass::op_of(words[i]) == *swap)
            return is_narrow(load) || same_address(load, words[i]) || is_expected(load, words[i]);
    return false;
}

}  // namespace lockstep::gpu::check
