// SPDX-License-Identifier: Apache-2.0
// Sizes: of the array, of a matrix product, and how the one is folded onto the other.
#pragma once

#include <cstdint>
#include <string_view>

#include "isa/tpu/enums.h"
#include "sim/config/schema.h"

namespace lockstep::tpu {

/// "ws", "os" or "is". Throws InputError on anything else.
Dataflow parse_dataflow(std::string_view text);
inline constexpr config::Choice kDataflows[] = {
    {"ws", "weights"}, {"os", "sums"}, {"is", "inputs"}};
std::string_view dataflow_name(Dataflow dataflow);

struct ArrayShape {
    std::int64_t rows = 1, columns = 1;
    Dataflow dataflow = Dataflow::kWeightStationary;
};

/// C (m x n) = A (m x k, the inputs) * B (k x n, the weights).
struct GemmShape {
    std::int64_t m = 1, n = 1, k = 1;
    std::int64_t macs() const { return m * n * k; }
};

/// A product cut into folds, each of which fits the array: rows * columns PEs hold a piece of the
/// stationary matrix (or of the result), through which `stream` vectors pass.
///   ws: rows <- k, columns <- n, stream m    os: m, n, stream k    is: k, m, stream n
struct Folding {
    std::int64_t rows = 1, columns = 1;  ///< of the whole spatial matrix, before it is cut
    std::int64_t stream = 1;             ///< vectors through each fold
    std::int64_t row_folds = 1, column_folds = 1;
    std::int64_t folds() const { return row_folds * column_folds; }
};

Folding fold(const ArrayShape& array, const GemmShape& gemm);

}  // namespace lockstep::tpu
