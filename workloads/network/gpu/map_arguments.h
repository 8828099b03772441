// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sim/error/error.h"
#include "workloads/network/gpu/lowering.h"

namespace lockstep::network::gpu {

/// What a kernel that goes over elements takes of its operands, a MapOf. `loops`, sorted and
/// joined, have the strides of `out`, then those of each of `in`. Throws InputError where they have
/// more dimensions than kernels do.
template <typename MapType>
MapType map_over(const Lowering& l, const Loops& loops, const Place& out,
                 std::span<const Place> in) {
    if (loops.extents.size() > kernels::kDims)
        throw InputError(fmt::format("node {}: more than {} dimensions of different strides",
                                     l.layer(), kernels::kDims));
    const auto operand = [&](const Place& place, const std::vector<std::int64_t>& strides) {
        kernels::Operand made;
        made.data = l.pointer(place);
        made.type = type_of(place.type);
        made.vector = is_vector(place, strides) ? 1 : 0;
        put_last(made.stride, strides, 0);
        return made;
    };
    MapType map;
    map.count = static_cast<std::int32_t>(loops.count());
    map.first = static_cast<std::int32_t>(kernels::kDims - loops.extents.size());
    put_last(map.extent, loops.extents);
    map.out = operand(out, loops.strides[0]);
    map.operands = static_cast<std::int32_t>(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) map.in[i] = operand(in[i], loops.strides[i + 1]);
    return map;
}

}  // namespace lockstep::network::gpu
