// SPDX-License-Identifier: Apache-2.0
// What SCALE-Sim v2 prints for the same product on the same array, in its own conventions.
#pragma once

#include "models/tpu/systolic/shape.h"

namespace lockstep::tpu {

struct ScaleSimMetrics {
    std::int64_t total_cycles = 0;  ///< 0-based index of the last cycle
    double overall_util = 0, mapping_efficiency = 0, compute_util = 0;  ///< percent
    // Elements. DRAM: with buffers that hold all of a layer, so that nothing is read twice.
    std::int64_t sram_ifmap_reads = 0, sram_filter_reads = 0, sram_ofmap_writes = 0;
    std::int64_t dram_ifmap_reads = 0, dram_filter_reads = 0, dram_ofmap_writes = 0;
};

/// A layer as SCALE-Sim sees it.
struct ScaleSimLayer {
    GemmShape gemm;
    std::int64_t inputs;  ///< different elements of the input that are read
    ScaleSimLayer(const GemmShape& gemm) : gemm(gemm), inputs(gemm.m * gemm.k) {}
};

ScaleSimMetrics scalesim_metrics(const ArrayShape& array, const ScaleSimLayer& layer);

/// A convolution's extents along one axis.
struct ScaleSimAxis {
    std::int64_t padded_input = 1, filter = 1, stride = 1;
    /// SCALE-Sim's output size: it rounds up where every framework rounds down.
    std::int64_t output() const { return (padded_input - filter + stride + stride - 1) / stride; }
    /// Input positions that some window covers.
    std::int64_t covered() const;
};

ScaleSimLayer scalesim_convolution(std::int64_t batch, const ScaleSimAxis& height,
                                   const ScaleSimAxis& width, std::int64_t channels,
                                   std::int64_t filters);

}  // namespace lockstep::tpu
