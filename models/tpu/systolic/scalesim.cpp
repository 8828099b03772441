// SPDX-License-Identifier: Apache-2.0
// SCALE-Sim v2 with unlimited bandwidth runs the folds one after the other, partial ones like full
// ones. Its peculiarities are kept: total_cycles counts from 0; an output-stationary fold ends with
// the last product, before the results have left the array; compute_util counts the
// columns' skew of ws and is twice; the writes of os contain rows + columns too many in each fold.
// Source: scale-sim-v2, compute/systolic_compute_{ws,os,is}.py; equal to its output in
// validation/published/scalesim.csv.
#include "models/tpu/systolic/scalesim.h"

#include <algorithm>

namespace lockstep::tpu {

ScaleSimMetrics scalesim_metrics(const ArrayShape& array, const ScaleSimLayer& layer) {
    const GemmShape& gemm = layer.gemm;
    const Folding f = fold(array, gemm);
    const bool is_os = array.dataflow == Dataflow::kOutputStationary;
    const std::int64_t skew = array.rows + array.columns - 2;
    const std::int64_t fold_cycles = (is_os ? 0 : array.rows) + f.stream + skew;
    const std::int64_t demand_lines = fold_cycles + (is_os ? 0 : array.columns - 1);
    const auto percent = [](double part, double whole) { return 100 * part / whole; };
    const double pes = static_cast<double>(array.rows * array.columns);
    const double used = static_cast<double>(f.rows * f.columns);
    const double folds = static_cast<double>(f.folds());

    ScaleSimMetrics result;
    result.total_cycles = f.folds() * fold_cycles - 1;
    // A 1 x 1 x 1 product on one PE with os ends in cycle 0: there is nothing to divide by.
    result.overall_util = result.total_cycles == 0
                              ? 100
                              : percent(static_cast<double>(gemm.macs()),
                                        static_cast<double>(result.total_cycles) * pes);
    result.mapping_efficiency = percent(used, folds * pes);
    result.compute_util = percent(used * static_cast<double>(f.stream),
                                  folds * pes * static_cast<double>(demand_lines));
    const std::int64_t inputs = gemm.m * gemm.k, weights = gemm.k * gemm.n,
                       outputs = gemm.m * gemm.n;
    switch (array.dataflow) {
        case Dataflow::kWeightStationary:
            result.sram_ifmap_reads = inputs * f.column_folds;
            result.sram_filter_reads = weights;
            result.sram_ofmap_writes = outputs * f.row_folds;
            break;
        case Dataflow::kOutputStationary:
            result.sram_ifmap_reads = inputs * f.column_folds;
            result.sram_filter_reads = weights * f.row_folds;
            result.sram_ofmap_writes = outputs + f.folds() * (array.rows + array.columns);
            break;
        case Dataflow::kInputStationary:
            result.sram_ifmap_reads = inputs;
            result.sram_filter_reads = weights * f.column_folds;
            result.sram_ofmap_writes = outputs * f.row_folds;
            break;
    }
    result.dram_ifmap_reads = layer.inputs;
    result.dram_filter_reads = weights;
    result.dram_ofmap_writes = is_os ? outputs : outputs * f.row_folds;
    return result;
}

std::int64_t ScaleSimAxis::covered() const {
    // Windows that overlap cover all between the first and the last; others leave gaps. The last
    // one may reach beyond the input, as outputs are rounded up.
    const std::int64_t last = (output() - 1) * stride;
    return (output() - 1) * std::min(stride, filter) +
           std::clamp<std::int64_t>(padded_input - last, 0, filter);
}

ScaleSimLayer scalesim_convolution(std::int64_t batch, const ScaleSimAxis& height,
                                   const ScaleSimAxis& width, std::int64_t channels,
                                   std::int64_t filters) {
    ScaleSimLayer layer(GemmShape{batch * height.output() * width.output(), filters,
                                  channels * height.filter * width.filter});
    layer.inputs = batch * channels * height.covered() * width.covered();
    return layer;
}

}  // namespace lockstep::tpu
