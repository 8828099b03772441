// SPDX-License-Identifier: Apache-2.0
// DMMA: fp64 matrices, 8x8x4 since sm_80 and 16x8x4, 8, 16 on sm_90. Each result is a chain of
// fused multiply-adds in the order of k, each rounded in the instruction's mode (reference:
// MMA-Sim).
#include <cmath>

#include "isa/sass/semantics/float_types.h"
#include "isa/sass/semantics/lanes.h"
#include "isa/sass/semantics/tensor/tensor.h"
#include "sim/numerics/rounding.h"

namespace lockstep::sass {

namespace {

using numerics::Rounding;

/// The NaN that c + a b is: a source's, quieted, in the order c, a, b (an H200 keeps the first of a
/// chain), or else the one that DFMA makes.
std::uint64_t nan_of(double a, double b, double c) {
    for (const double source : {c, a, b})
        if (std::isnan(source)) return as_bits(source) | 0x0008'0000'0000'0000;
    return kDoubleNan;
}

struct DmmaPlan {
    std::uint8_t registers_a, registers_b, registers_c;  ///< pairs of registers
    Rounding rounding;
    bool negate_a, negate_b, negate_c;
    std::uint8_t unused = 0;
};
static_assert(sizeof(DmmaPlan) == sizeof(Instruction::immediate));

/// Calls visit(lane, i, row, column) for each element of C and D.
template <typename Visit>
void for_each_result(const DmmaPlan& plan, Visit&& visit) {
    for (unsigned i = 0; i < plan.registers_c; ++i)
        for (unsigned lane = 0; lane < kWarpSize; ++lane)
            visit(lane, i, lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
}

void execute_dmma(const Instruction& in, Warp& warp) {
    const auto plan = std::bit_cast<DmmaPlan>(in.immediate);
    double a[16][16], b[16][8];  // [k][row], [k][column]
    const auto read = [&warp](Operand operand, unsigned pair, unsigned lane, bool negate) {
        const double value = as_double(lane64(&warp.row(operand) + 2 * pair, lane));
        return negate ? -value : value;
    };
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const unsigned g = lane / 4;
        const unsigned t = lane % 4;
        const bool tall = plan.registers_c == 4;
        for (unsigned i = 0; i < plan.registers_a; ++i)
            a[t + 4 * (tall ? i / 2 : 0)][g + 8 * (i % 2)] = read(in.a, i, lane, plan.negate_a);
        for (unsigned i = 0; i < plan.registers_b; ++i)
            b[t + 4 * i][g] = read(in.b, i, lane, plan.negate_b);
    }
    double sum[8][16];  // [column][row]
    for_each_result(plan, [&](unsigned lane, unsigned i, unsigned row, unsigned column) {
        sum[column][row] = read(in.c, i, lane, plan.negate_c);
    });
    const unsigned depth = 4u * plan.registers_b;
    const unsigned rows = 4u * plan.registers_c;
    for (unsigned n = 0; n < 8; ++n) {
        for (unsigned k = 0; k < depth; ++k) {
            if (plan.rounding == Rounding::kNearestEven) {
                for (unsigned row = 0; row < rows; ++row)
                    sum[n][row] = std::fma(a[k][row], b[k][n], sum[n][row]);
            } else {
                for (unsigned row = 0; row < rows; ++row)
                    sum[n][row] =
                        numerics::directed::fma(a[k][row], b[k][n], sum[n][row], plan.rounding);
            }
        }
    }
    // Which NaN the host returns depends on the instruction its compiler chose.
    const auto chain_of_nan = [&](unsigned row, unsigned n, double c) {
        for (unsigned k = 0; k < depth; ++k) {
            const double next = plan.rounding == Rounding::kNearestEven
                                    ? std::fma(a[k][row], b[k][n], c)
                                    : numerics::directed::fma(a[k][row], b[k][n], c, plan.rounding);
            c = std::isnan(next) ? as_double(nan_of(a[k][row], b[k][n], c)) : next;
        }
        return as_bits(c);
    };
    Row result[8];
    for_each_result(plan, [&](unsigned lane, unsigned i, unsigned row, unsigned column) {
        const double value = sum[column][row];
        const std::uint64_t bits =
            std::isnan(value) ? chain_of_nan(row, column, read(in.c, i, lane, plan.negate_c))
                              : as_bits(value);
        result[2 * i].lane[lane] = static_cast<std::uint32_t>(bits);
        result[2 * i + 1].lane[lane] = static_cast<std::uint32_t>(bits >> 32);
    });
    for (unsigned i = 0; i < 2u * plan.registers_c; ++i)
        copy_lanes((&warp.row(in.d))[i], result[i], warp.mask);
}

}  // namespace

bool bind_dmma(Binder& binder) {
    const Word& word = binder.word;
    const auto shape = static_cast<unsigned>(word.bits(76, 2));
    const bool absolute = word.bit(62) || word.bit(73) || word.bit(74);
    if (absolute || !accumulates_always(word) || (shape != 0 && binder.arch != 90)) return false;
    DmmaPlan plan{};
    plan.registers_a = static_cast<std::uint8_t>(1u << shape);  // 8x8x4: 1, then 2, 4, 8
    plan.registers_b = static_cast<std::uint8_t>(shape == 0 ? 1 : 1u << (shape - 1));
    plan.registers_c = shape == 0 ? 2 : 4;
    plan.rounding = static_cast<Rounding>(word.bits(78, 2));
    plan.negate_a = word.bit(72);
    plan.negate_b = word.bit(63);
    plan.negate_c = word.bit(75);
    binder.out.d = binder.dest_register(16, 2u * plan.registers_c);
    binder.out.a = binder.source_register(24, 2u * plan.registers_a);
    binder.out.b = binder.source_register(32, 2u * plan.registers_b);
    binder.out.c = binder.source_register(64, 2u * plan.registers_c);
    binder.out.immediate = std::bit_cast<std::uint64_t>(plan);
    binder.out.execute = execute_dmma;
    return true;
}

}  // namespace lockstep::sass
