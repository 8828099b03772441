// SPDX-License-Identifier: Apache-2.0
// What the statistics say about a matrix product on an array.
#pragma once

#include "models/tpu/systolic/array.h"
#include "sim/stats/statistics.h"
#include "workloads/network/graph/products.h"

namespace lockstep::run {

stats::Step step_of(const network::MatrixProduct& product, const tpu::ArrayParameters& array);

}  // namespace lockstep::run
