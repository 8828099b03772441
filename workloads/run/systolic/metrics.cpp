// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/systolic/metrics.h"

#include "models/tpu/systolic/scalesim.h"

namespace lockstep::run {

using network::MatrixProduct;
using tpu::ArrayParameters;

namespace {

tpu::ScaleSimLayer scalesim_layer(const MatrixProduct& product) {
    if (!product.convolution) return tpu::GemmShape{product.m, product.n, product.k};
    const network::Convolution& c = *product.convolution;
    const network::SlidingWindow& w = c.window;
    const auto axis = [&](std::size_t d, std::int64_t extent) {
        return tpu::ScaleSimAxis{extent + w.pad_begin[d] + w.pad_end[d],
                                 (w.kernel[d] - 1) * w.dilation[d] + 1, w.stride[d]};
    };
    tpu::ScaleSimLayer layer = tpu::scalesim_convolution(c.batch, axis(0, c.height),
                                                         axis(1, c.width), c.channels, c.filters);
    layer.gemm.k = product.k;  // it knows no dilation
    return layer;
}

}  // namespace

stats::Step step_of(const MatrixProduct& product, const ArrayParameters& array) {
    const tpu::GemmShape shape{product.m, product.n, product.k};
    const tpu::ArrayUse use = tpu::array_use(array.shape, array.overlap, shape);
    const tpu::ScaleSimMetrics scalesim =
        tpu::scalesim_metrics(array.shape, scalesim_layer(product));
    const auto times = [&](std::int64_t value) {
        return static_cast<std::uint64_t>(value * product.count);
    };
    stats::Step step;
    step.name = product.name;
    step.metrics = {
        {"cycles", times(use.cycles)},
        {"macs", times(shape.macs())},
        {"array_utilization.pct", use.utilization},
        {"lockstep__stream_cycles", times(use.stream)},
        {"stall_cycles.load", times(use.load)},
        {"stall_cycles.skew", times(use.skew)},
        {"lockstep__fold_utilization.pct", use.fold_fill},
        {"lockstep__folds", times(tpu::fold(array.shape, shape).folds())},
        {"lockstep__array_input_reads", times(use.input_reads)},
        {"lockstep__array_weight_reads", times(use.weight_reads)},
        {"lockstep__accumulator_writes", times(use.output_writes)},
        {"lockstep__accumulator_reads", times(use.output_reads)},
        {"dram_bytes_read", std::uint64_t{0}},  // operands are there: there is no memory
        {"dram_bytes_write", std::uint64_t{0}},
        // SCALE-Sim has a layer a group; the sum of `count` of its 0-based numbers.
        {"lockstep__scalesim_total_cycles", times(scalesim.total_cycles)},
        {"lockstep__scalesim_overall_util.pct", scalesim.overall_util},
        {"lockstep__scalesim_mapping_efficiency.pct", scalesim.mapping_efficiency},
        {"lockstep__scalesim_compute_util.pct", scalesim.compute_util},
        {"lockstep__scalesim_sram_ifmap_reads", times(scalesim.sram_ifmap_reads)},
        {"lockstep__scalesim_sram_filter_reads", times(scalesim.sram_filter_reads)},
        {"lockstep__scalesim_sram_ofmap_writes", times(scalesim.sram_ofmap_writes)},
        {"lockstep__scalesim_dram_ifmap_reads", times(scalesim.dram_ifmap_reads)},
        {"lockstep__scalesim_dram_filter_reads", times(scalesim.dram_filter_reads)},
        {"lockstep__scalesim_dram_ofmap_writes", times(scalesim.dram_ofmap_writes)},
    };
    return step;
}

}  // namespace lockstep::run
