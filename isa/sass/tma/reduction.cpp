// SPDX-License-Identifier: Apache-2.0
// Sums of f16, bf16, f32 and f64 round to nearest at each element; the order in which copies of
// different CTAs come is the machine's.
#include "isa/sass/tma/reduction.h"

#include <cstring>

namespace lockstep::sass {

namespace {

template <typename U>
void reduce(std::byte* to, const std::byte* from, std::size_t bytes) {
    using Value = typename U::Value;
    for (std::size_t at = 0; at < bytes; at += sizeof(Value)) {
        Value old, operand;
        std::memcpy(&old, to + at, sizeof old);
        std::memcpy(&operand, from + at, sizeof operand);
        const Value changed = U::apply(old, operand);
        std::memcpy(to + at, &changed, sizeof changed);
    }
}

/// 16-bit elements by means of the operation on pairs.
template <typename U>
void reduce_halves(std::byte* to, const std::byte* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 2) {
        std::uint16_t old, operand;
        std::memcpy(&old, to + at, sizeof old);
        std::memcpy(&operand, from + at, sizeof operand);
        const auto changed = static_cast<std::uint16_t>(U::apply(old, operand));
        std::memcpy(to + at, &changed, sizeof changed);
    }
}

template <typename T>
ReduceElements integer(AtomicOp op) {
    constexpr bool kCounts = sizeof(T) == 4 && std::is_unsigned_v<T>;
    switch (op) {
        case AtomicOp::kAdd:
            return reduce<IntegerUpdate<T, AtomicOp::kAdd>>;
        case AtomicOp::kMin:
            return reduce<IntegerUpdate<T, AtomicOp::kMin>>;
        case AtomicOp::kMax:
            return reduce<IntegerUpdate<T, AtomicOp::kMax>>;
        case AtomicOp::kInc:
            return kCounts ? reduce<IntegerUpdate<T, AtomicOp::kInc>> : nullptr;
        case AtomicOp::kDec:
            return kCounts ? reduce<IntegerUpdate<T, AtomicOp::kDec>> : nullptr;
        case AtomicOp::kAnd:
            return reduce<IntegerUpdate<T, AtomicOp::kAnd>>;
        case AtomicOp::kOr:
            return reduce<IntegerUpdate<T, AtomicOp::kOr>>;
        case AtomicOp::kXor:
            return reduce<IntegerUpdate<T, AtomicOp::kXor>>;
        default:
            return nullptr;
    }
}

template <typename Format>
ReduceElements half(AtomicOp op) {
    switch (op) {
        case AtomicOp::kAdd:
            return reduce_halves<PairUpdate<Format, AtomicOp::kAdd>>;
        case AtomicOp::kMin:
            return reduce_halves<PairUpdate<Format, AtomicOp::kMin>>;
        case AtomicOp::kMax:
            return reduce_halves<PairUpdate<Format, AtomicOp::kMax>>;
        default:
            return nullptr;
    }
}

}  // namespace

ReduceElements reduction(TensorType type, AtomicOp op) {
    const bool adds = op == AtomicOp::kAdd;
    switch (type) {
        case TensorType::kU32:
            return integer<std::uint32_t>(op);
        case TensorType::kS32:
            return integer<std::int32_t>(op);
        case TensorType::kU64:
            return integer<std::uint64_t>(op);
        case TensorType::kS64:
            return integer<std::int64_t>(op);
        case TensorType::kF16:
            return half<Fp16>(op);
        case TensorType::kBf16:
            return half<Bf16>(op);
        case TensorType::kF32:
            return adds ? reduce<FloatAdd<false>> : nullptr;
        case TensorType::kF32Ftz:
            return adds ? reduce<FloatAdd<true>> : nullptr;
        case TensorType::kF64:
            return adds ? reduce<DoubleAdd> : nullptr;
        default:
            return nullptr;
    }
}

}  // namespace lockstep::sass
