// SPDX-License-Identifier: Apache-2.0
// Tensors hold their elements as the hardware's memory would: little-endian bytes of the element
// type, row-major. Conversions go through the formats of sim/numerics, round to nearest even.
#include "workloads/network/graph/tensor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "sim/error/error.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"

namespace lockstep::network {

namespace {

struct TypeInfo {
    std::string_view name;
    std::size_t size;
    bool floating;
};
constexpr std::array<TypeInfo, 10> kTypes = {{{"fp32", 4, true},
                                              {"fp64", 8, true},
                                              {"bf16", 2, true},
                                              {"fp16", 2, true},
                                              {"int8", 1, false},
                                              {"uint8", 1, false},
                                              {"int16", 2, false},
                                              {"int32", 4, false},
                                              {"int64", 8, false},
                                              {"bool", 1, false}}};
constexpr std::int64_t kMaximumElements = std::int64_t{1} << 40;

const TypeInfo& info(ElementType type) {
    return kTypes.at(static_cast<std::size_t>(type));
}

template <class To, class From>
void assign(Tensor& tensor, std::span<const From> values) {
    std::span<To> to = tensor.as<To>();
    for (std::size_t i = 0; i < to.size(); ++i) {
        if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
            // Out of range is undefined in C++ and in ONNX; here it saturates to int64, NaN is 0.
            const double x = std::trunc(static_cast<double>(values[i]));
            const std::int64_t whole = x != x        ? 0
                                       : x >= 0x1p63 ? INT64_MAX
                                       : x < -0x1p63 ? INT64_MIN
                                                     : static_cast<std::int64_t>(x);
            to[i] = static_cast<To>(whole);
        } else {
            to[i] = static_cast<To>(values[i]);
        }
    }
}

std::uint16_t to_bf16(float value) {
    return numerics::fp32_to_bf16(value);
}
std::uint16_t to_bf16(double value) {
    return numerics::fp64_to_bf16(value);
}
std::uint16_t to_fp16(float value) {
    return numerics::fp32_to_fp16(value);
}
std::uint16_t to_fp16(double value) {
    return numerics::fp64_to_fp16(value);
}

template <class From>
Tensor convert_from(ElementType type, Shape shape, std::span<const From> values) {
    // Floats are rounded from floats: the same result, in half the bits.
    using Real = std::conditional_t<std::is_same_v<From, float>, float, double>;
    Tensor tensor(type, std::move(shape));
    LOCKSTEP_CHECK(static_cast<std::size_t>(tensor.size()) == values.size(),
                   "{} values for shape {}", values.size(), to_string(tensor.shape));
    switch (type) {
        case ElementType::kFp32:
            assign<float>(tensor, values);
            break;
        case ElementType::kFp64:
            assign<double>(tensor, values);
            break;
        case ElementType::kInt8:
            assign<std::int8_t>(tensor, values);
            break;
        case ElementType::kUint8:
            assign<std::uint8_t>(tensor, values);
            break;
        case ElementType::kInt16:
            assign<std::int16_t>(tensor, values);
            break;
        case ElementType::kInt32:
            assign<std::int32_t>(tensor, values);
            break;
        case ElementType::kInt64:
            assign<std::int64_t>(tensor, values);
            break;
        case ElementType::kBool:
            for (std::size_t i = 0; i < values.size(); ++i)
                tensor.as<std::uint8_t>()[i] = values[i] != 0;
            break;
        case ElementType::kBf16:
            std::ranges::transform(values, tensor.as<std::uint16_t>().begin(),
                                   [](From value) { return to_bf16(static_cast<Real>(value)); });
            break;
        case ElementType::kFp16:
            std::ranges::transform(values, tensor.as<std::uint16_t>().begin(),
                                   [](From value) { return to_fp16(static_cast<Real>(value)); });
            break;
    }
    return tensor;
}

template <class To>
std::vector<To> convert_to(const Tensor& tensor) {
    std::vector<To> values(static_cast<std::size_t>(tensor.size()));
    const auto copy = [&](auto from) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<To>(from[i]);
    };
    switch (tensor.type) {
        case ElementType::kFp32:
            copy(tensor.as<float>());
            break;
        case ElementType::kFp64:
            copy(tensor.as<double>());
            break;
        case ElementType::kInt8:
            copy(tensor.as<std::int8_t>());
            break;
        case ElementType::kUint8:
        case ElementType::kBool:
            copy(tensor.as<std::uint8_t>());
            break;
        case ElementType::kInt16:
            copy(tensor.as<std::int16_t>());
            break;
        case ElementType::kInt32:
            copy(tensor.as<std::int32_t>());
            break;
        case ElementType::kInt64:
            copy(tensor.as<std::int64_t>());
            break;
        case ElementType::kBf16:
            std::ranges::transform(tensor.as<std::uint16_t>(), values.begin(), [](auto bits) {
                return static_cast<To>(numerics::bf16_to_fp32(bits));
            });
            break;
        case ElementType::kFp16:
            std::ranges::transform(tensor.as<std::uint16_t>(), values.begin(), [](auto bits) {
                return static_cast<To>(numerics::fp16_to_fp32(bits));
            });
            break;
    }
    return values;
}

}  // namespace

std::size_t size_of(ElementType type) {
    return info(type).size;
}

std::string_view name_of(ElementType type) {
    return info(type).name;
}

std::optional<ElementType> element_type_named(std::string_view name) {
    for (std::size_t i = 0; i < kTypes.size(); ++i)
        if (kTypes[i].name == name) return static_cast<ElementType>(i);
    return std::nullopt;
}

bool is_floating(ElementType type) {
    return info(type).floating;
}

std::int64_t element_count(const Shape& shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) {
        if (extent < 0) throw InputError(fmt::format("negative extent in {}", to_string(shape)));
        // Each extent is bounded even in an empty tensor, so that no later sum overflows.
        if (extent > kMaximumElements / std::max<std::int64_t>(1, count))
            throw InputError(fmt::format("shape {} is too large", to_string(shape)));
        count *= extent;
    }
    return count;
}

std::string to_string(const Shape& shape) {
    return fmt::format("[{}]", fmt::join(shape, ","));
}

Tensor::Tensor(ElementType element_type, Shape tensor_shape)
    : type(element_type),
      shape(std::move(tensor_shape)),
      bytes(static_cast<std::size_t>(element_count(shape)) * size_of(type)) {}

void Tensor::check_size(std::size_t size) const {
    LOCKSTEP_CHECK(size == size_of(type), "{} read as elements of {} bytes", name_of(type), size);
}

Tensor make_tensor(Shape shape, std::span<const float> values) {
    return from_floats(ElementType::kFp32, std::move(shape), values);
}

Tensor make_tensor(Shape shape, std::span<const std::int64_t> values) {
    return from_integers(ElementType::kInt64, std::move(shape), values);
}

std::vector<double> to_doubles(const Tensor& tensor) {
    return convert_to<double>(tensor);
}

std::vector<float> to_floats(const Tensor& tensor) {
    return convert_to<float>(tensor);
}

std::vector<std::int64_t> to_integers(const Tensor& tensor) {
    LOCKSTEP_CHECK(!is_floating(tensor.type), "{} read as integers", name_of(tensor.type));
    return convert_to<std::int64_t>(tensor);
}

Tensor from_doubles(ElementType type, Shape shape, std::span<const double> values) {
    return convert_from(type, std::move(shape), values);
}

Tensor from_floats(ElementType type, Shape shape, std::span<const float> values) {
    return convert_from(type, std::move(shape), values);
}

Tensor from_integers(ElementType type, Shape shape, std::span<const std::int64_t> values) {
    return convert_from(type, std::move(shape), values);
}

}  // namespace lockstep::network
