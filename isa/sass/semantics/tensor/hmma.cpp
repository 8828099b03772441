// SPDX-License-Identifier: Apache-2.0
// HMMA of sm_75 to sm_90 (fp16, bf16, tf32) and QMMA of sm_89 (fp8): 16 x 8 results of a dot
// product per instruction, bit for bit (isa/sass/tensor_core). Operand shapes follow from what
// ptxas emits for each mma.sync; modifiers it never emits (negated operands, a predicate on C) are
// not executed.
#include "isa/sass/semantics/tensor/float_mma.h"
#include "isa/sass/semantics/tensor/tensor.h"
#include "isa/sass/semantics/tensor/tile_cache.h"

namespace lockstep::sass {

void multiply_dense(const FloatMmaPlan& plan, const Row* a, const Row* b, const Row* c, Row* d,
                    std::uint32_t mask) {
    const unsigned registers_b = plan.registers_a / 2;
    const int depth = static_cast<int>(4 * registers_b * elements_per_word(plan.type_a));
    TileCaches& lately = TileCaches::of_thread();
    const DecodedTile& tile_a =
        lately.a.tile(plan.type_a, a, plan.registers_a, [&](DecodedTile& tile) {
            load_tile_a(plan.type_a, FragmentA(a, plan.registers_a), 4 * registers_b, tile);
            tile.decode(plan.type_a, depth * 16);
        });
    const DecodedTile& tile_b = lately.b.tile(plan.type_b, b, registers_b, [&](DecodedTile& tile) {
        load_tile_b(plan.type_b, b, registers_b, tile);
        tile.decode(plan.type_b, depth * 8);
    });
    FragmentC sum = plan.half() ? FragmentC::of_halves(c) : FragmentC(c, 4);
    const DotProductRule rule = plan.rule();
    accumulate_tile(rule, depth, tile_a, tile_b, 8, sum.element);
    if (plan.half()) {
        sum.write_halves(d, mask);
    } else {
        sum.write(d, 4, mask);
    }
}

namespace {

void execute_mma(const Instruction& in, Warp& warp) {
    multiply_dense(std::bit_cast<FloatMmaPlan>(in.immediate), &warp.row(in.a), &warp.row(in.b),
                   &warp.row(in.c), &warp.row(in.d), warp.mask);
}

void bind_operands(Binder& binder, unsigned registers_a, unsigned registers_b, bool half) {
    binder.out.d = binder.dest_register(16, half ? 2 : 4);
    binder.out.a = binder.source_register(24, registers_a);
    binder.out.b = binder.source_register(32, registers_b);
    binder.out.c = binder.source_register(64, half ? 2 : 4);
}

/// Registers of A for the shape bits 75 and 78; 0 where there is no such shape.
unsigned registers_of_a(bool sparse, TensorType type, bool bit75, bool bit78) {
    if (type == TensorType::kTf32) {
        if (sparse) return bit78 ? 0 : (bit75 ? 4 : 2);  // SP.16816, SP.1688
        return bit75 ? 0 : (bit78 ? 2 : 4);              // 1684, 1688
    }
    if (sparse) return bit75 ? (bit78 ? 4 : 2) : 0;  // SP.16832, SP.16816
    return bit78 ? 0 : (bit75 ? 4 : 2);              // 16816, 1688
}

}  // namespace

bool bind_hmma(Binder& binder) {
    const Word& word = binder.word;
    const bool sparse = word.bit(73);
    const bool half = !word.bit(76);
    const unsigned format = static_cast<unsigned>(word.bits(82, 2));
    const bool negated = word.bit(72) || word.bit(63);
    if (negated || format == 3 || !accumulates_always(word) || word.bit(91)) return false;
    constexpr TensorType kTypes[] = {TensorType::kFp16, TensorType::kBf16, TensorType::kTf32};
    const TensorType type = kTypes[format];
    if (type != TensorType::kFp16 && (half || binder.arch < 80)) return false;
    if (sparse && binder.arch < 80) return false;
    const unsigned registers_a = registers_of_a(sparse, type, word.bit(75), word.bit(78));
    if (registers_a == 0 || (binder.arch == 75 && registers_a != 2)) return false;

    bind_operands(binder, registers_a, sparse ? registers_a : registers_a / 2, half);
    binder.out.immediate = std::bit_cast<std::uint64_t>(
        FloatMmaPlan::of(dot_product_rule(binder.arch, type, half), type, type, registers_a));
    binder.out.execute = execute_mma;
    if (sparse) {
        binder.out.d2 = binder.source_register(40);  // the metadata
        binder.out.modifiers = static_cast<std::uint32_t>(word.bits(48, 2));
        binder.out.execute = execute_sparse_hmma;
    }
    return true;
}

bool bind_qmma(Binder& binder) {
    const Word& word = binder.word;
    const bool is_16832 = word.bit(75);  // else 16816
    if (!word.bit(74) || word.bit(73) || word.bit(72) || word.bit(63) || word.bits(82, 2) != 0 ||
        !accumulates_always(word))
        return false;
    const bool half = !word.bit(77);
    const TensorType a = word.bit(78) ? TensorType::kE5m2 : TensorType::kE4m3;
    const TensorType b = word.bit(79) ? TensorType::kE5m2 : TensorType::kE4m3;
    const unsigned registers_a = is_16832 ? 4 : 2;
    bind_operands(binder, registers_a, registers_a / 2, half);
    binder.out.immediate = std::bit_cast<std::uint64_t>(
        FloatMmaPlan::of(dot_product_rule(binder.arch, a, half), a, b, registers_a));
    binder.out.execute = execute_mma;
    return true;
}

}  // namespace lockstep::sass
