// SPDX-License-Identifier: Apache-2.0
// Tensor maps as kernels of data/tma.cu take them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa/sass/tma/tensor_map.h"

namespace lockstep {

constexpr int kTile = 32;

/// As a kernel takes it by value.
struct MapParameter {
    std::byte bytes[sass::kTensorMapBytes];
};
/// Parameters begin at 0x210 of the constant bank, maps at a multiple of 128 there.
struct ToFirstMap {
    std::byte bytes[0x280 - 0x210] = {};
};

/// A matrix of ints with `pitch` elements from row to row, in boxes of kTile x kTile.
inline MapParameter map_of(const int* matrix, unsigned columns, unsigned rows, unsigned pitch) {
    sass::TensorMap map;
    map.address = reinterpret_cast<std::uint64_t>(matrix);
    map.rank = 2;
    map.type = sass::TensorType::kS32;
    map.size = {columns, rows};
    map.stride = {pitch * sizeof(int)};
    map.box = {kTile, kTile};
    map.step = {1, 1};
    MapParameter parameter;
    encode_tensor_map(map, parameter.bytes);
    return parameter;
}

}  // namespace lockstep
