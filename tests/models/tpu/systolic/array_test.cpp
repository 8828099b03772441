// SPDX-License-Identifier: Apache-2.0
// The fidelities agree in cycles and bits, whatever the shape, dataflow, overlap and type.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "models/tpu/systolic/netlist.h"
#include "models/tpu/systolic/registers.h"
#include "models/tpu/systolic/wavefront.h"
#include "sim/numerics/bf16.h"

namespace lockstep::tpu {
namespace {

struct Case {
    ArrayShape array;
    Overlap overlap;
    GemmShape gemm;
};

Case any_case(std::int64_t most_pes_a_side, std::int64_t largest) {
    const auto side = rc::gen::inRange<std::int64_t>(1, most_pes_a_side + 1);
    const auto size = rc::gen::inRange<std::int64_t>(1, largest + 1);
    return {{*side, *side,
             *rc::gen::element(Dataflow::kWeightStationary, Dataflow::kOutputStationary,
                               Dataflow::kInputStationary)},
            *rc::gen::element(Overlap::kNone, Overlap::kDrain, Overlap::kDouble),
            {*size, *size, *size}};
}

template <typename T, typename Make>
Operands<T> operands(const GemmShape& shape, const Make& make) {
    Operands<T> result{shape, {}, {}};
    for (std::int64_t i = 0; i < shape.m * shape.k; ++i) result.a.push_back(make());
    for (std::int64_t i = 0; i < shape.k * shape.n; ++i) result.b.push_back(make());
    return result;
}

Operands<std::int32_t> any_int8(const GemmShape& shape) {
    return operands<std::int32_t>(shape, [] { return *rc::gen::inRange(-128, 128); });
}

/// Every bit pattern, NaNs and infinities among them.
Operands<float> any_bf16(const GemmShape& shape) {
    return operands<float>(
        shape, [] { return numerics::bf16_to_fp32(*rc::gen::arbitrary<std::uint16_t>()); });
}

/// Values whose sums depend on the order of the additions.
Operands<float> ordinary_bf16(const GemmShape& shape) {
    return operands<float>(shape, [] {
        const int mantissa = *rc::gen::inRange(-255, 256);
        return std::ldexp(static_cast<float>(mantissa), *rc::gen::inRange(-12, 13));
    });
}

template <typename T>
void expect_equal(const ArrayResult<T>& one, const ArrayResult<T>& other) {
    RC_ASSERT(one.cycles == other.cycles);
    RC_ASSERT(one.c.size() == other.c.size());
    for (std::size_t i = 0; i < one.c.size(); ++i)
        RC_ASSERT(std::bit_cast<std::uint32_t>(one.c[i]) ==
                  std::bit_cast<std::uint32_t>(other.c[i]));
}

template <typename T>
void check_registers(const Case& c, const Operands<T>& operands) {
    expect_equal(run_registers(c.array, c.overlap, operands),
                 run_wavefront(c.array, c.overlap, operands));
}

template <typename T>
void check_netlist(const Case& c, const Operands<T>& operands) {
    expect_equal(run_netlist(c.array, c.overlap, operands),
                 run_registers(c.array, c.overlap, operands));
}

RC_GTEST_PROP(SystolicArray, NetlistAgreesWithTheRegistersInInt8, ()) {
    const Case c = any_case(6, 12);
    check_netlist(c, any_int8(c.gemm));
}

RC_GTEST_PROP(SystolicArray, NetlistAgreesWithTheRegistersInBf16, ()) {
    const Case c = any_case(6, 12);
    check_netlist(c, ordinary_bf16(c.gemm));
}

RC_GTEST_PROP(SystolicArray, NetlistAgreesWithTheWavefrontOnEveryBitPattern, ()) {
    const Case c = any_case(4, 6);
    const Operands<float> o = any_bf16(c.gemm);
    expect_equal(run_netlist(c.array, c.overlap, o), run_wavefront(c.array, c.overlap, o));
}

RC_GTEST_PROP(SystolicArray, RegistersAgreeWithTheWavefrontInInt8, ()) {
    const Case c = any_case(12, 40);
    check_registers(c, any_int8(c.gemm));
}

RC_GTEST_PROP(SystolicArray, RegistersAgreeWithTheWavefrontInBf16, ()) {
    const Case c = any_case(12, 40);
    check_registers(c, ordinary_bf16(c.gemm));
}

RC_GTEST_PROP(SystolicArray, RegistersAgreeWithTheWavefrontOnEveryBitPattern, ()) {
    const Case c = any_case(6, 10);
    check_registers(c, any_bf16(c.gemm));
}

RC_GTEST_PROP(SystolicArray, Int8ProductsAreTheSumsModulo2To32, ()) {
    const Case c = any_case(12, 40);
    const Operands<std::int32_t> o = any_int8(c.gemm);
    const ArrayResult<std::int32_t> result = run_registers(c.array, c.overlap, o);
    for (std::int64_t i = 0; i < c.gemm.m; ++i)
        for (std::int64_t j = 0; j < c.gemm.n; ++j) {
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < c.gemm.k; ++k)
                sum += std::int64_t{o.a[i * c.gemm.k + k]} * o.b[k * c.gemm.n + j];
            RC_ASSERT(result.c[i * c.gemm.n + j] == sum);
        }
}

Operands<float> ones(const GemmShape& shape) {
    return {shape, std::vector<float>(shape.m * shape.k, 1),
            std::vector<float>(shape.k * shape.n, 1)};
}

TEST(SystolicArray, SumsAreMadeDownTheColumnThenFoldByFold) {
    // 1 x 4 times 4 x 1 on two rows: ws adds (2^24 + 1) + (1 + 1), os ((2^24 + 1) + 1) + 1, where
    // each 1 by itself is lost against 2^24.
    Operands<float> o = ones({1, 1, 4});
    o.a[0] = 0x1p24f;
    const ArrayShape ws{2, 1, Dataflow::kWeightStationary}, os{2, 1, Dataflow::kOutputStationary};
    EXPECT_EQ(run_registers(ws, Overlap::kNone, o).c[0], 0x1p24f + 2);
    EXPECT_EQ(run_registers(os, Overlap::kNone, o).c[0], 0x1p24f);
}

TEST(SystolicArray, Int32SumsWrap) {
    const std::int64_t k = 131072;  // times 2^14 is 2^31
    const Operands<std::int32_t> o{
        {1, 1, k}, std::vector<std::int32_t>(k, -128), std::vector<std::int32_t>(k, -128)};
    for (const auto dataflow : {Dataflow::kWeightStationary, Dataflow::kOutputStationary}) {
        const ArrayShape array{64, 1, dataflow};
        EXPECT_EQ(run_registers(array, Overlap::kDouble, o).c[0], INT32_MIN);
        EXPECT_EQ(run_wavefront(array, Overlap::kDouble, o).c[0], INT32_MIN);
    }
}

TEST(SystolicArray, NansLeaveCanonical) {
    Operands<float> o = ones({1, 1, 2});
    o.a = {INFINITY, -INFINITY};
    for (const auto dataflow :
         {Dataflow::kWeightStationary, Dataflow::kOutputStationary, Dataflow::kInputStationary}) {
        const auto result = run_registers({2, 2, dataflow}, Overlap::kNone, o);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(result.c[0]), 0x7fc00000u);
    }
}

TEST(SystolicArray, TheLargestNetlistAgrees) {
    const GemmShape gemm{9, 40, 33};
    Operands<std::int32_t> o{gemm, {}, {}};
    for (std::int64_t i = 0; i < gemm.m * gemm.k; ++i)
        o.a.push_back(static_cast<std::int32_t>(i * 37 % 256 - 128));
    for (std::int64_t i = 0; i < gemm.k * gemm.n; ++i)
        o.b.push_back(static_cast<std::int32_t>(i * 91 % 253 - 126));
    const ArrayShape array{kLargestNetlist, kLargestNetlist, Dataflow::kWeightStationary};
    const auto netlist = run_netlist(array, Overlap::kDouble, o);
    const auto registers = run_registers(array, Overlap::kDouble, o);
    EXPECT_EQ(netlist.cycles, registers.cycles);
    EXPECT_EQ(netlist.c, registers.c);
}

TEST(SystolicArray, AgreesAtTheSizesOfRealArrays) {
    const GemmShape gemm{70, 200, 150};
    Operands<std::int32_t> o{gemm, {}, {}};
    for (std::int64_t i = 0; i < gemm.m * gemm.k; ++i)
        o.a.push_back(static_cast<std::int32_t>(i * 37 % 256 - 128));
    for (std::int64_t i = 0; i < gemm.k * gemm.n; ++i)
        o.b.push_back(static_cast<std::int32_t>(i * 91 % 253 - 126));
    for (const auto dataflow :
         {Dataflow::kWeightStationary, Dataflow::kOutputStationary, Dataflow::kInputStationary}) {
        const ArrayShape array{128, 128, dataflow};
        const auto registers = run_registers(array, Overlap::kDouble, o);
        const auto wavefront = run_wavefront(array, Overlap::kDouble, o);
        EXPECT_EQ(registers.cycles, wavefront.cycles);
        EXPECT_EQ(registers.c, wavefront.c);
    }
}

}  // namespace
}  // namespace lockstep::tpu
