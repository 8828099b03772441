// SPDX-License-Identifier: Apache-2.0
// Copies from any strides to any.
#pragma once

#include <string>

#include "workloads/network/tpu/compilation.h"

namespace lockstep::network::lowering {

void copy(Compilation& c, const Place& from, const Place& to);
/// The same with these strides, which fill a range.
Place copy_as(Compilation& c, const Place& from, std::vector<std::int64_t> strides,
              const std::string& name);
/// The same values row by row in the graph's order.
inline Place dense_copy(Compilation& c, const Place& from, const std::string& name) {
    return copy_as(c, from, dense_strides(from.shape), name);
}
/// An image as NHWC, copied where it does not lie so.
Place image_of(Compilation& c, ValueId id, const std::string& name);

}  // namespace lockstep::network::lowering
