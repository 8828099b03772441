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

/// Lane of quad pair `pair` that is number `in_quad` of its lower (0-3) or upper (4-7) quad.
unsigned lane_of(unsigned pair, unsigned number) {
    return 4 * pair + number % 4 + (number >= 4 ? 16 : 0);
}

struct Position {
    unsigned row, column;
};

/// Where element i of an fp32 C or D lies.
Position position_fp32(unsigned lane, unsigned i) {
    const unsigned upper = lane >= 16 ? 4 : 0;
    return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
}

/// The same for fp16.
Position position_fp16(unsigned lane, unsigned i) {
    return {lane % 4 + (lane >= 16 ? 4 : 0), i};
}

/// C's value at a position, as the accumulator of D's type. C's registers are those of the step:
/// elements 2 step.. of fp32; of fp16 the half (columns 0-3 or 4-7) that the step's results lie in.
std::uint32_t addend(const Plan884& plan, const Row* c, unsigned pair, unsigned lane, unsigned i,
                     Position at) {
    if (plan.c_is_fp32) return c[i].lane[lane];
    const unsigned number = at.row;
    const std::uint32_t bits = half_of(c, lane_of(pair, number), at.column % 4);
    if (!plan.d_is_fp32) return bits;
    return std::bit_cast<std::uint32_t>(numerics::fp16_to_fp32(static_cast<std::uint16_t>(bits)));
}

void execute_hmma884(const Instruction& in, Warp& warp) {
    const auto plan = std::bit_cast<Plan884>(in.immediate);
    const Row* a = &warp.row(in.a);
    const Row* b = &warp.row(in.b);
    const Row* c = &warp.row(in.c);
    const DotProductRule rule{plan.group, plan.fraction_bits, kMinExponent,
                              plan.d_is_fp32 ? AccumulatorType::kFp32 : AccumulatorType::kFp16};
    Row result[2] = {};
    for (unsigned pair = 0; pair < 4; ++pair) {
        DecodedTile tile_a, tile_b;
        for (unsigned k = 0; k < 4; ++k) {
            for (unsigned i = 0; i < 8; ++i) {
                tile_a.bits[k * 16 + i] = plan.a_is_column
                                              ? half_of(a, lane_of(pair, i / 4 * 4 + k), i % 4)
                                              : half_of(a, lane_of(pair, i), k);
                tile_a.bits[k * 16 + 8 + i] = 0;
                tile_b.bits[i * 4 + k] = plan.b_is_column
                                             ? half_of(b, lane_of(pair, i), k)
                                             : half_of(b, lane_of(pair, i / 4 * 4 + k), i % 4);
            }
        }
        tile_a.decode(TensorType::kFp16, 64);
        tile_b.decode(TensorType::kFp16, 32);
        // Every result of the step is an element of some column; its C goes to the element's place.
        const unsigned count = plan.d_is_fp32 ? 2 : 4;
        std::uint32_t column[8][16] = {};
        const auto for_each_result = [&](auto&& visit) {
            for (unsigned number = 0; number < 8; ++number) {
                const unsigned lane = lane_of(pair, number);
                for (unsigned i = 0; i < count; ++i) {
                    const unsigned element = plan.step * count + i;
                    visit(lane, i,
                          plan.d_is_fp32 ? position_fp32(lane, element)
                                         : position_fp16(lane, element));
                }
            }
        };
        for_each_result([&](unsigned lane, unsigned i, Position at) {
            column[at.column][at.row] = addend(plan, c, pair, lane, i, at);
        });
        for (int n = 0; n < 8; ++n) accumulate_column(rule, 4, tile_a, tile_b, n * 4, column[n]);
        for_each_result([&](unsigned lane, unsigned i, Position at) {
            const std::uint32_t value = column[at.column][at.row];
            if (plan.d_is_fp32) {
                result[i].lane[lane] = value;
            } else {
                result[i / 2].lane[lane] |= value << (16 * (i % 2));
            }
        });
    }
    copy_lanes((&warp.row(in.d))[0], result[0], warp.mask);
    copy_lanes((&warp.row(in.d))[1], result[1], warp.mask);
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
