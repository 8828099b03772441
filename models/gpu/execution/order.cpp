// SPDX-License-Identifier: Apache-2.0
// CTAs communicate through atomics, strong (volatile, acquire, release) accesses and device-scope
// fences. A kernel without any of these runs its CTAs independently; integer reductions without a
// returned value commute. Field values: sm_80 and later; earlier encodings are taken to be ordered.
#include "models/gpu/execution/order.h"

#include "isa/sass/table/op.h"

namespace lockstep::gpu {

namespace {

using sass::Word;

bool is_commutative_reduction(const Word& word, sass::Arch arch) {
    const auto type = word.bits(73, 3);
    const auto op = word.bits(87, 4);
    const bool is_integer =
        type <= 2 || (arch >= 90 && type == 3) || (arch < 90 && type == 5);  // U32 S32 U64, S64
    const bool commutes = op <= 2 || (op >= 5 && op <= 7);  // ADD MIN MAX, AND OR XOR
    return is_integer && commutes;
}

bool is_order_sensitive(const Word& word, sass::Arch arch) {
    using sass::Op;
    constexpr unsigned kFirstScopeBeyondCta = 1;
    switch (sass::op_of(word)) {
        case Op::kLd:
        case Op::kLdg:
        case Op::kSt:
        case Op::kStg:
            return is_strong_access(word, arch);
        case Op::kRed:
            return !is_commutative_reduction(word, arch);
        case Op::kAtom:
        case Op::kAtomCas:
        case Op::kAtomFloat:
        case Op::kAtomgFloat:
        case Op::kRedFloat:
        case Op::kAtomg:
        case Op::kAtomgCas:
            return true;
        case Op::kUtmaredg:
        case Op::kUblkred:
            return true;  // host atomics know nothing of them
        case Op::kMembar:
            return word.bits(76, 3) >= kFirstScopeBeyondCta;
        default:
            return false;
    }
}

}  // namespace

bool is_strong_access(const Word& word, sass::Arch arch) {
    using sass::Op;
    const Op op = sass::op_of(word);
    const bool is_store = op == Op::kSt || op == Op::kStg;
    if (!is_store && op != Op::kLd && op != Op::kLdg) return false;
    constexpr sass::Arch kFirstOfThisField = 80;
    if (arch < kFirstOfThisField) return word.bits(79, 2) >= 2;
    switch (word.bits(77, 4)) {
        case 4:  // ST: STRONG.SM.PRIVATE
            return is_store;
        case 5:   // STRONG.SM
        case 6:   // STRONG.GPU.PRIVATE
        case 7:   // STRONG.GPU
        case 8:   // MMIO.GPU
        case 10:  // STRONG.SYS
        case 12:  // MMIO.SYS
            return true;
        default:
            return false;
    }
}

bool order_matters(std::span<const Word> code, sass::Arch arch) {
    constexpr sass::Arch kFirstKnown = 80;
    if (arch < kFirstKnown) return true;
    for (const Word& word : code)
        if (is_order_sensitive(word, arch)) return true;
    return false;
}

}  // namespace lockstep::gpu
