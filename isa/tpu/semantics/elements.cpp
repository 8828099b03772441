// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/semantics/elements.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "sim/numerics/bf16.h"

namespace lockstep::tpu {

namespace {

template <typename Integer>
void load_integers(const std::uint8_t* from, std::size_t count, Quantisation quantisation,
                   float* out) {
    for (std::size_t i = 0; i < count; ++i) {
        Integer value;
        std::memcpy(&value, from + i * sizeof(Integer), sizeof(Integer));
        if constexpr (sizeof(Integer) < 4)
            out[i] = static_cast<float>(value - quantisation.zero) * quantisation.scale;
        else
            out[i] =
                static_cast<float>(std::int64_t{value} - quantisation.zero) * quantisation.scale;
    }
}

template <typename Integer>
void store_integers(const float* values, std::size_t count, Quantisation quantisation,
                    std::uint8_t* to) {
    constexpr auto kLow = static_cast<float>(std::numeric_limits<Integer>::min());
    constexpr auto kHigh = static_cast<float>(std::numeric_limits<Integer>::max());
    const auto zero = static_cast<float>(quantisation.zero);
    for (std::size_t i = 0; i < count; ++i) {
        float value = std::nearbyint(values[i] / quantisation.scale) + zero;
        value = value == value ? value : zero;
        value = value < kLow ? kLow : value > kHigh ? kHigh : value;
        const auto integer = static_cast<Integer>(static_cast<std::int32_t>(value));
        std::memcpy(to + i * sizeof(Integer), &integer, sizeof(Integer));
    }
}

void store_int32(const float* values, std::size_t count, Quantisation quantisation,
                 std::uint8_t* to) {
    for (std::size_t i = 0; i < count; ++i) {
        const double rounded =
            std::nearbyint(static_cast<double>(values[i] / quantisation.scale)) + quantisation.zero;
        const double value = std::isnan(rounded) ? quantisation.zero : rounded;
        const auto integer =
            static_cast<std::int32_t>(std::fmin(std::fmax(value, -0x1p31), 0x1p31 - 1));
        std::memcpy(to + i * 4, &integer, 4);
    }
}

template <typename Integer>
void load_words(const std::uint8_t* from, std::size_t count, std::int16_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        Integer value;
        std::memcpy(&value, from + i * sizeof(Integer), sizeof(Integer));
        out[i] = static_cast<std::int16_t>(value);
    }
}

}  // namespace

void load_lanes(const std::uint8_t* from, DataType type, std::size_t count, float* out) {
    load_elements(from, type, count, {}, out);
    if (type != DataType::kFp32) return;
    for (std::size_t i = 0; i < count; ++i)
        out[i] = numerics::bf16_to_fp32(numerics::fp32_to_bf16(out[i]));
}

void load_lanes(const std::uint8_t* from, DataType type, std::size_t count, std::int16_t* out) {
    switch (size_of(type)) {
        case 1:
            return type == DataType::kInt8 ? load_words<std::int8_t>(from, count, out)
                                           : load_words<std::uint8_t>(from, count, out);
        case 2:
            return load_words<std::int16_t>(from, count, out);
        default:
            return load_words<std::int32_t>(from, count, out);
    }
}

void load_elements(const std::uint8_t* from, DataType type, std::size_t count,
                   Quantisation quantisation, float* out) {
    switch (type) {
        case DataType::kInt8:
            return load_integers<std::int8_t>(from, count, quantisation, out);
        case DataType::kUint8:
            return load_integers<std::uint8_t>(from, count, quantisation, out);
        case DataType::kInt16:
            return load_integers<std::int16_t>(from, count, quantisation, out);
        case DataType::kInt32:
            return load_integers<std::int32_t>(from, count, quantisation, out);
        case DataType::kBf16:
            for (std::size_t i = 0; i < count; ++i) {
                std::uint16_t bits;
                std::memcpy(&bits, from + 2 * i, 2);
                out[i] = numerics::bf16_to_fp32(bits);
            }
            return;
        case DataType::kFp32:
            if (count != 0) std::memcpy(out, from, 4 * count);
            return;
    }
}

void store_elements(const float* values, std::size_t count, DataType type,
                    Quantisation quantisation, std::uint8_t* to) {
    switch (type) {
        case DataType::kInt8:
            return store_integers<std::int8_t>(values, count, quantisation, to);
        case DataType::kUint8:
            return store_integers<std::uint8_t>(values, count, quantisation, to);
        case DataType::kInt16:
            return store_integers<std::int16_t>(values, count, quantisation, to);
        case DataType::kInt32:
            return store_int32(values, count, quantisation, to);
        case DataType::kBf16:
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint16_t bits = numerics::fp32_to_bf16(values[i]);
                std::memcpy(to + 2 * i, &bits, 2);
            }
            return;
        case DataType::kFp32:
            if (count != 0) std::memcpy(to, values, 4 * count);
            return;
    }
}

}  // namespace lockstep::tpu
