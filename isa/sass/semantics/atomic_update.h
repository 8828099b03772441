// SPDX-License-Identifier: Apache-2.0
// What atomic operations compute: new value from old value and operand. A vector operation (F16x4
// and the like) is atomic for each of its kCount parts, not as a whole.
#pragma once

#include <cstdint>
#include <type_traits>

#include "isa/sass/semantics/lanes.h"
#include "isa/sass/semantics/mbarrier.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"

namespace lockstep::sass {

/// The operation field of atomics (bits 87-90).
enum class AtomicOp : std::uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExchange };

template <typename T, AtomicOp kOp>
struct IntegerUpdate {
    using Value = std::make_unsigned_t<T>;
    static constexpr unsigned kCount = 1;

    static Value apply(Value old, Value operand) {
        const bool less = static_cast<T>(old) < static_cast<T>(operand);
        switch (kOp) {
            case AtomicOp::kAdd:
                return old + operand;
            case AtomicOp::kMin:
                return less ? old : operand;
            case AtomicOp::kMax:
                return less ? operand : old;
            case AtomicOp::kInc:
                return old >= operand ? 0 : old + 1;
            case AtomicOp::kDec:
                return old == 0 || old > operand ? operand : old - 1;
            case AtomicOp::kAnd:
                return old & operand;
            case AtomicOp::kOr:
                return old | operand;
            case AtomicOp::kXor:
                return old ^ operand;
            default:
                return operand;
        }
    }
};

/// POPC.INC: counts the lanes that hit an address.
struct CountUpdate {
    using Value = std::uint32_t;
    static constexpr unsigned kCount = 1;
    static Value apply(Value old, Value) { return old + 1; }
};

/// ARRIVE.64: one thread arrives at an mbarrier of sm_80.
struct ArriveUpdate {
    using Value = std::uint64_t;
    static constexpr unsigned kCount = 1;
    static Value apply(Value old, Value) { return arrive_sm80(old); }
};

template <bool kFlush, unsigned kParts = 1>
struct FloatAdd {
    using Value = std::uint32_t;
    static constexpr unsigned kCount = kParts;

    static Value apply(Value old, Value operand) {
        const float sum = as_float(flushed(old)) + as_float(flushed(operand));
        return sum != sum ? 0x7fffffffu : flushed(as_bits(sum));
    }

  private:
    static Value flushed(Value bits) {
        return kFlush && (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
    }
};

struct DoubleAdd {
    using Value = std::uint64_t;
    static constexpr unsigned kCount = 1;
    static Value apply(Value old, Value operand) {
        const double sum = as_double(old) + as_double(operand);
        return sum != sum ? 0x7ff8'0000'0000'0000ull : as_bits(sum);
    }
};

struct Fp16 {
    static float widen(std::uint16_t bits) { return numerics::fp16_to_fp32(bits); }
    static std::uint16_t narrow(float value) { return numerics::fp32_to_fp16(value); }
    static constexpr std::uint16_t kNan = numerics::kFp16Nan;
};
struct Bf16 {
    static float widen(std::uint16_t bits) { return numerics::bf16_to_fp32(bits); }
    static std::uint16_t narrow(float value) { return numerics::fp32_to_bf16(value); }
    static constexpr std::uint16_t kNan = numerics::kBf16Nan;
};

/// Pairs of 16-bit numbers. Adding in fp32 and rounding again is exact rounding: 24 >= 2 * 11 + 2.
template <typename Format, AtomicOp kOp, unsigned kParts = 1>
struct PairUpdate {
    using Value = std::uint32_t;
    static constexpr unsigned kCount = kParts;

    static Value apply(Value old, Value operand) {
        return half(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(operand)) |
               std::uint32_t{half(static_cast<std::uint16_t>(old >> 16),
                                  static_cast<std::uint16_t>(operand >> 16))}
                   << 16;
    }

  private:
    static std::uint16_t half(std::uint16_t old, std::uint16_t operand) {
        const float a = Format::widen(old), b = Format::widen(operand);
        if (kOp == AtomicOp::kAdd) {
            const float sum = a + b;
            return sum != sum ? Format::kNan : Format::narrow(sum);
        }
        // Minimum and maximum: the number where one is a NaN, -0 below +0.
        if (a != a) return b != b ? Format::kNan : operand;
        if (b != b) return old;
        const bool less = a < b || (a == b && (old & 0x8000u) != 0);
        return less == (kOp == AtomicOp::kMin) ? old : operand;
    }
};

}  // namespace lockstep::sass
