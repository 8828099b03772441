// SPDX-License-Identifier: Apache-2.0
// HMMA.884 of sm_70 (sm_75 keeps it): each of the four quad pairs of a warp (lanes 4q..4q+3 and
// 16+4q..16+4q+3) multiplies an 8x4 by a 4x8 matrix. One instruction computes a step: for fp32
// results two of a lane's eight (.STEP0 to 3), for fp16 four of eight (.STEP0, 1). Layouts: PTX
// ISA, mma.m8n8k4.
#include "isa/sass/semantics/tensor/float_mma.h"
#include "isa/sass/semantics/tensor/tensor.h"
#include "sim/numerics/fp16.h"

namespace lockstep::sass {

namespace {

struct Plan884 {
    bool a_is_column, b_is_column, d_is_fp32, c_is_fp32;
    std::uint8_t step;
    std::uint8_t group, fraction_bits, unused = 0;
};
static_assert(sizeof(Plan884) == sizeof(Instruction::immediate));
constexpr int kMinExponent = -132;

std::uint32_t half_of(const Row* registers, unsigned lane, unsigned index) {
    return registers[index / 2].lane[lane] >> (16 * (index % 2)) & 0xffff;
}

/// Lane `number` (0-3 of the lower quad, 4-7 of the upper) of a quad pair.
unsigned lane_of(unsigned pair, unsigned number) {
    return 4 * pair + number % 4 + (number >= 4 ? 16 : 0);
}

// A and B by rows hold four columns of one row in a lane, by columns four rows of one column; the
// upper quad has rows (A) or columns (B) 4-7.
std::uint32_t element_a(const Plan884& plan, const Row* a, unsigned pair, unsigned row,
                        unsigned k) {
    return plan.a_is_column ? half_of(a, lane_of(pair, row / 4 * 4 + k), row % 4)
                            : half_of(a, lane_of(pair, row), k);
}
std::uint32_t element_b(const Plan884& plan, const Row* b, unsigned pair, unsigned k,
                        unsigned column) {
    return plan.b_is_column ? half_of(b, lane_of(pair, column), k)
                            : half_of(b, lane_of(pair, column / 4 * 4 + k), column % 4);
}

/// The lane that holds an element of an fp32 C or D; which of the step's two registers: column % 2.
unsigned lane_of_fp32(unsigned pair, unsigned row, unsigned column) {
    return lane_of(pair, (row & 1) | (column & 2) | (row & 4));
}

/// C's element as the accumulator of D's type. An fp16 C has a row in a lane; its registers are
/// those of the step's half of the columns.
std::uint32_t element_c(const Plan884& plan, const Row* c, unsigned pair, unsigned row,
                        unsigned column) {
    if (plan.c_is_fp32) return c[column % 2].lane[lane_of_fp32(pair, row, column)];
    const std::uint32_t bits = half_of(c, lane_of(pair, row), column % 4);
    return plan.d_is_fp32 ? std::bit_cast<std::uint32_t>(
                                numerics::fp16_to_fp32(static_cast<std::uint16_t>(bits)))
                          : bits;
}

/// Results of the four pairs for rows first_row + {0, 1, 4, 5} and four columns: as a tile of 16
/// rows, each with its own columns of B.
void multiply_rows(const Plan884& plan, const Row* a, const Row* b, const Row* c, Row* result,
                   unsigned first_row, unsigned first_column) {
    DecodedTile tile_a, tile_b;
    alignas(64) std::uint32_t sum[4][16];
    const auto row_of = [first_row](unsigned slot) {
        return first_row + (slot & 1) + (slot & 2) * 2;
    };
    for (unsigned slot = 0; slot < 16; ++slot) {
        for (unsigned k = 0; k < 4; ++k)
            tile_a.bits[k * 16 + slot] = element_a(plan, a, slot / 4, row_of(slot), k);
        for (unsigned n = 0; n < 4; ++n) {
            const unsigned column = first_column + n;
            for (unsigned k = 0; k < 4; ++k)
                tile_b.bits[(n * 4 + k) * 16 + slot] = element_b(plan, b, slot / 4, k, column);
            sum[n][slot] = element_c(plan, c, slot / 4, row_of(slot), column);
        }
    }
    tile_a.decode(TensorType::kFp16, 64);
    tile_b.decode(TensorType::kFp16, 256);
    const DotProductRule rule{plan.group, plan.fraction_bits, kMinExponent,
                              plan.d_is_fp32 ? AccumulatorType::kFp32 : AccumulatorType::kFp16};
    for (int n = 0; n < 4; ++n) accumulate_rows(rule, 4, tile_a, tile_b, n * 64, sum[n]);
    for (unsigned slot = 0; slot < 16; ++slot) {
        for (unsigned n = 0; n < 4; ++n) {
            if (plan.d_is_fp32) {
                const unsigned lane = lane_of_fp32(slot / 4, row_of(slot), first_column + n);
                result[n % 2].lane[lane] = sum[n][slot];
            } else {
                result[n / 2].lane[lane_of(slot / 4, row_of(slot))] |= sum[n][slot]
                                                                       << (16 * (n % 2));
            }
        }
    }
}

void execute_hmma884(const Instruction& in, Warp& warp) {
    const auto plan = std::bit_cast<Plan884>(in.immediate);
    const Row* a = &warp.row(in.a);
    const Row* b = &warp.row(in.b);
    const Row* c = &warp.row(in.c);
    Row result[2] = {};
    if (plan.d_is_fp32) {
        // Elements 2 step and 2 step + 1 of PTX's layout: half the rows, half the columns.
        multiply_rows(plan, a, b, c, result, plan.step % 2 * 2, plan.step / 2 * 4);
    } else {
        multiply_rows(plan, a, b, c, result, 0, plan.step * 4);
        multiply_rows(plan, a, b, c, result, 2, plan.step * 4);
    }
    Row* d = &warp.row(in.d);
    copy_lanes(d[0], result[0], warp.mask);
    copy_lanes(d[1], result[1], warp.mask);
}

}  // namespace

bool bind_hmma884(Binder& binder) {
    const Word& word = binder.word;
    const Plan884 base{word.bit(73),
                       word.bit(74),
                       word.bit(76),
                       word.bit(78),
                       static_cast<std::uint8_t>(word.bits(79, 2)),
                       4,
                       0};
    const bool steps_exist = base.d_is_fp32 || base.step < 2;
    const bool c_widens = base.c_is_fp32 && !base.d_is_fp32;  // fp32 C for an fp16 D is not emitted
    if (word.bit(75) || word.bit(77) || word.bit(72) || word.bit(63) || !steps_exist || c_widens)
        return false;
    Plan884 plan = base;
    plan.fraction_bits = static_cast<std::uint8_t>(
        dot_product_rule(binder.arch, TensorType::kFp16, false).fraction_bits);
    binder.out.d = binder.dest_register(16, 2);
    binder.out.a = binder.source_register(24, 2);
    binder.out.b = binder.source_register(32, 2);
    binder.out.c = binder.source_register(64, 2);
    binder.out.immediate = std::bit_cast<std::uint64_t>(plan);
    binder.out.execute = execute_hmma884;
    return true;
}

}  // namespace lockstep::sass
