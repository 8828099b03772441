// SPDX-License-Identifier: Apache-2.0
// Where the values of a network lie in a TPU: views of the unified buffer, memory or host memory.
#pragma once

#include <memory>

#include "isa/tpu/enums.h"
#include "workloads/network/compile/view.h"

namespace lockstep::network::lowering {

using compile::dense_strides;
using compile::image_strides;
using compile::strides_like;

struct Place : compile::View {
    tpu::Space space = tpu::Space::kMemory;
    std::uint64_t address = 0;  ///< of the first element, bytes
    tpu::DataType type = tpu::DataType::kInt8;
    std::shared_ptr<void> owner;  ///< keeps a range of the unified buffer
    bool half_tiles = false;      ///< its tiles fill half a register of the vector unit

    std::uint64_t bytes_of(std::int64_t elements) const {
        return static_cast<std::uint64_t>(elements) * tpu::size_of(type);
    }
    std::uint64_t bytes() const { return bytes_of(element_count(shape)); }
};

/// Rows of consecutive elements.
struct Matrix {
    tpu::Space space = tpu::Space::kMemory;
    std::uint64_t address = 0;
    tpu::DataType type = tpu::DataType::kInt8;
    std::int64_t rows = 1, columns = 1;
    std::int64_t pitch = 1;  ///< elements from row to row
    bool half_tiles = false;

    /// Of its elements alone.
    std::uint64_t bytes() const {
        return static_cast<std::uint64_t>(rows * columns) * tpu::size_of(type);
    }
    std::uint64_t row_address(std::int64_t row) const {
        return address + static_cast<std::uint64_t>(row * pitch) * tpu::size_of(type);
    }
};

/// The value as matrices of `columns` = the last dimension, as few as the strides allow. Nothing
/// where the last dimension is not consecutive.
inline std::optional<std::vector<Matrix>> matrices_of(const Place& place) {
    const auto ranges = compile::row_ranges(place);
    if (!ranges) return std::nullopt;
    std::vector<Matrix> result;
    for (const compile::RowRange& r : *ranges)
        result.push_back({place.space, place.address + place.bytes_of(r.offset), place.type, r.rows,
                          r.columns, r.pitch, place.half_tiles});
    return result;
}

}  // namespace lockstep::network::lowering
