// SPDX-License-Identifier: Apache-2.0
// What SCALE-Sim v2 prints for the same product on the same array, in its own conventions.
#pragma once

#include "models/tpu/systolic/shape.h"

namespace lockstep::tpu {

struct ScaleSimMetrics {
    std::int64_t total_cycles = 0;  ///< 0-based index of the last cycle
    double overall_util = 0, mapping_efficiency = 0, compute_util = 0;                ///< percent
    std::int64_t sram_ifmap_reads = 0, sram_filter_reads = 0, sram_ofmap_writes = 0;  ///< elements
};

ScaleSimMetrics scalesim_metrics(const ArrayShape& array, const GemmShape& gemm);

/// SCALE-Sim's output size of a convolution along one axis, from the padded input: it rounds up
/// where every framework rounds down.
std::int64_t scalesim_output_size(std::int64_t padded_input, std::int64_t filter,
                                  std::int64_t stride);

}  // namespace lockstep::tpu
