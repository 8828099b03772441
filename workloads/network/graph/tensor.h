// SPDX-License-Identifier: Apache-2.0
// A tensor with its values: row-major, the last dimension the fastest.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "workloads/network/graph/element_type.h"

namespace lockstep::network {

using Shape = std::vector<std::int64_t>;

/// The number of elements. InputError where it, or its bytes, cannot be held (more than 2^40).
std::int64_t element_count(const Shape& shape);

/// "[1,3,224,224]"
std::string to_string(const Shape& shape);

struct Tensor {
    ElementType type = ElementType::kFp32;
    Shape shape;
    std::vector<std::byte> bytes;  ///< element_count(shape) * size_of(type), little-endian

    Tensor() = default;
    /// All zero.
    Tensor(ElementType element_type, Shape tensor_shape);

    std::int64_t size() const { return element_count(shape); }

    /// The values as their own C++ type (uint16_t for fp16 and bf16, uint8_t for bool); T must have
    /// the element's size.
    template <class T>
    std::span<T> as() {
        check_size(sizeof(T));
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    template <class T>
    std::span<const T> as() const {
        check_size(sizeof(T));
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }

    bool operator==(const Tensor&) const = default;

  private:
    void check_size(std::size_t size) const;
};

Tensor make_tensor(Shape shape, std::span<const float> values);
Tensor make_tensor(Shape shape, std::span<const std::int64_t> values);

/// All values, converted exactly (int64: to the nearest double).
std::vector<double> to_doubles(const Tensor& tensor);
/// All values of a floating tensor, rounded to nearest even where the type is fp64.
std::vector<float> to_floats(const Tensor& tensor);
/// All values of an integer or bool tensor.
std::vector<std::int64_t> to_integers(const Tensor& tensor);

/// Values rounded to nearest even into a floating type, or truncated toward zero and wrapped into
/// an integer type (a bool: not zero).
Tensor from_doubles(ElementType type, Shape shape, std::span<const double> values);
Tensor from_floats(ElementType type, Shape shape, std::span<const float> values);
Tensor from_integers(ElementType type, Shape shape, std::span<const std::int64_t> values);

}  // namespace lockstep::network
