// SPDX-License-Identifier: Apache-2.0
// How long each way takes on this computer. Measured, so never the same twice.
#pragma once

#include <string>

#include "workloads/openmp/products.h"

namespace lockstep::openmp {

/// One line a way: milliseconds, GFLOP/s, and how many times as fast as the naive one. The best of
/// `repeats`. Throws std::runtime_error where a way's result is not the naive one's.
std::string table_of(const MatrixProduct& p, int repeats);
std::string table_of(const Convolution& p, int repeats);

}  // namespace lockstep::openmp
