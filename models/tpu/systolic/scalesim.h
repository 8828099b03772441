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

/// A convolution's extents along one axis.
struct ScaleSimAxis {
    std::int64_t padded_input = 1, filter = 1, stride = 1;
    /// SCALE-Sim's output size: it rounds up where every framework rounds down.
    std::int64_t output() const { return (padded_input - filter + stride + stride - 1) / stride; }
};

/// The product that SCALE-Sim makes of a convolution.
GemmShape scalesim_convolution(std::int64_t batch, const ScaleSimAxis& height,
                               const ScaleSimAxis& width, std::int64_t channels,
                               std::int64_t filters);

}  // namespace lockstep::tpu
