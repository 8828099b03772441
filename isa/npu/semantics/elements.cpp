// SPDX-License-Identifier: Apache-2.0
#include "isa/npu/semantics/elements.h"

#include <cstring>

namespace lockstep::npu {

namespace {

template <typename Stored, typename To>
void widen(const std::uint8_t* from, std::uint64_t count, std::int32_t zero, To* to) {
    for (std::uint64_t i = 0; i < count; ++i) {
        Stored value;
        std::memcpy(&value, from + i * sizeof(value), sizeof(value));
        to[i] =
            static_cast<To>(static_cast<std::uint32_t>(value) - static_cast<std::uint32_t>(zero));
    }
}

template <typename To>
void take_bits(const std::uint8_t* from, ElementType type, std::uint64_t count, std::int32_t zero,
               To* to) {
    const std::uint32_t width = bits_of(type), mask = (1u << width) - 1;
    const std::uint32_t sign = is_signed(type) ? 1u << (width - 1) : 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint32_t value = from[i * width / 8] >> (i * width % 8) & mask;
        to[i] = static_cast<To>(static_cast<std::int32_t>(value ^ sign) -
                                static_cast<std::int32_t>(sign) - zero);
    }
}

template <typename To>
void unpack_bytes(const std::uint8_t* from, ElementType type, std::uint64_t count,
                  std::int32_t zero, To* to) {
    if (type == ElementType::kInt8)
        widen<std::int8_t>(from, count, zero, to);
    else if (type == ElementType::kUint8)
        widen<std::uint8_t>(from, count, zero, to);
    else
        take_bits(from, type, count, zero, to);
}

}  // namespace

numerics::IntegerRange range_of(ElementType type) {
    const std::uint32_t bits = bits_of(type);
    const std::int64_t steps = std::int64_t{1} << bits;
    const std::int64_t low = is_signed(type) ? -steps / 2 : 0;
    return {static_cast<std::int32_t>(low), static_cast<std::int32_t>(low + steps - 1)};
}

void unpack(const std::uint8_t* from, ElementType type, std::uint64_t count, std::int32_t zero,
            std::int32_t* to) {
    if (type == ElementType::kInt16) return widen<std::int16_t>(from, count, zero, to);
    if (type == ElementType::kInt32) return widen<std::int32_t>(from, count, zero, to);
    unpack_bytes(from, type, count, zero, to);
}

void unpack_narrow(const std::uint8_t* from, ElementType type, std::uint64_t count,
                   std::int32_t zero, std::int16_t* to) {
    unpack_bytes(from, type, count, zero, to);
}

void pack(const std::int32_t* from, ElementType type, std::uint64_t count, std::uint8_t* to) {
    const std::uint32_t width = bits_of(type);
    switch (width) {
        case 8:
            for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<std::uint8_t>(from[i]);
            return;
        case 16:
            for (std::uint64_t i = 0; i < count; ++i) {
                const auto value = static_cast<std::int16_t>(from[i]);
                std::memcpy(to + 2 * i, &value, 2);
            }
            return;
        case 32:
            std::memcpy(to, from, 4 * count);
            return;
        default:
            break;
    }
    std::memset(to, 0, packed_bytes(count, ElementType(type)));
    const std::uint32_t mask = (1u << width) - 1;
    for (std::uint64_t i = 0; i < count; ++i)
        to[i * width / 8] |= static_cast<std::uint8_t>((static_cast<std::uint32_t>(from[i]) & mask)
                                                       << (i * width % 8));
}

}  // namespace lockstep::npu
