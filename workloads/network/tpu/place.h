// SPDX-License-Identifier: Apache-2.0
// Where the values of a network lie in a TPU: strided views of the unified buffer, memory or host
// memory. Images lie as NHWC though the graph says NCHW: their channels have the stride 1.
#pragma once

#include "isa/tpu/enums.h"
#include "workloads/network/graph.h"

#include <memory>
#include <optional>

namespace lockstep::network::lowering {

struct Place {
    tpu::Space space = tpu::Space::kMemory;
    uint64_t address = 0;  ///< of the first element, bytes
    tpu::DataType type = tpu::DataType::kInt8;
    Shape shape;                   ///< the graph's
    std::vector<int64_t> strides;  ///< elements; 0 where one value is used for all
    Shape image;                   ///< c, h, w where the last dimension is a flattened NHWC image
    std::shared_ptr<void> owner;   ///< keeps a range of the unified buffer

    uint64_t bytes_of(int64_t elements) const {
        return static_cast<uint64_t>(elements) * tpu::size_of(type);
    }
};

/// Rows of consecutive elements.
struct Matrix {
    tpu::Space space = tpu::Space::kMemory;
    uint64_t address = 0;
    tpu::DataType type = tpu::DataType::kInt8;
    int64_t rows = 1, columns = 1;
    int64_t pitch = 1;  ///< elements from row to row

    /// Of its elements alone.
    uint64_t bytes() const { return static_cast<uint64_t>(rows * columns) * tpu::size_of(type); }
    uint64_t row_address(int64_t row) const {
        return address + static_cast<uint64_t>(row * pitch) * tpu::size_of(type);
    }
};

std::vector<int64_t> dense_strides(const Shape& shape);
/// NHWC strides of an NCHW shape.
std::vector<int64_t> image_strides(const Shape& nchw);

/// The dimensions in the order of their strides, those of extent 1 left out.
Place in_memory_order(const Place& place);
/// Strides with which `shape`, of as many dimensions, lies in the order in which the place does.
std::vector<int64_t> strides_like(const Place& place, const Shape& shape);
bool is_dense(const Place& place);  ///< its elements fill a range, in any order of dimensions

/// The value as matrices of `columns` = the last dimension, as few as the strides allow. Nothing
/// where the last dimension is not consecutive.
std::optional<std::vector<Matrix>> matrices_of(const Place& place);

/// The same elements in another shape, without moving any; nothing where that cannot be.
std::optional<Place> reshaped(const Place& place, const Shape& shape);
Place permuted(const Place& place, const std::vector<int64_t>& perm);

}  // namespace lockstep::network::lowering
