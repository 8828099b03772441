// SPDX-License-Identifier: Apache-2.0
// The netlist of the systolic array, cycle by cycle: what its VCD shows, as JSON.
#include <fmt/format.h>

#include "models/tpu/systolic/array.h"
#include "models/tpu/systolic/wires.h"
#include "sim/error/error.h"
#include "sim/lab/widgets/request.h"
#include "sim/lab/widgets/widgets.h"
#include "workloads/network/builtin/product_data.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostSide = 16, kMostSize = 64;
constexpr std::int64_t kMostPeCycles = 100'000;

/// Products that can be followed by eye: a counts on, b repeats 1, 2, 3.
tpu::Operands<std::int32_t> small_operands(const tpu::GemmShape& shape) {
    tpu::Operands<std::int32_t> operands{shape, {}, {}};
    for (std::int64_t i = 0; i < shape.m * shape.k; ++i)
        operands.a.push_back(static_cast<std::int32_t>(i % 9 + 1));
    for (std::int64_t i = 0; i < shape.k * shape.n; ++i)
        operands.b.push_back(static_cast<std::int32_t>(i % 3 + 1));
    return operands;
}

/// Those of `run gemm:m=...,n=...,k=...`.
tpu::Operands<std::int32_t> run_operands(const tpu::GemmShape& shape) {
    network::MatrixProduct product;
    product.m = shape.m;
    product.n = shape.n;
    product.k = shape.k;
    const network::ProductData<std::int32_t> data(product, 0, 0);
    return {shape, data.a(), data.b()};
}

/// In the order of "wires" of the answer; control is a number of bits.
Json json_of(const tpu::PeWires<std::int32_t>& pe) {
    const int control = (pe.multiply ? 1 : 0) | (pe.shift ? 2 : 0) | (pe.swap ? 4 : 0) |
                        (pe.first ? 8 : 0) | (pe.last ? 16 : 0) | (pe.unload ? 32 : 0);
    return Json::array({pe.west, pe.north, pe.sum_in, pe.sum_out, pe.held, pe.spare, control});
}

Json matrix(const std::vector<std::int32_t>& elements, std::int64_t columns) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (i % static_cast<std::size_t>(columns) == 0) rows.push_back(Json::array());
        rows.back().push_back(elements[i]);
    }
    return rows;
}

}  // namespace

Json systolic_wires(const nlohmann::json& json) {
    WidgetRequest request(json);
    const tpu::GemmShape gemm{request.whole("m", 3, 1, kMostSize),
                              request.whole("n", 2, 1, kMostSize),
                              request.whole("k", 2, 1, kMostSize)};
    const tpu::ArrayShape array{
        request.whole("rows", 2, 1, kMostSide), request.whole("columns", 2, 1, kMostSide),
        tpu::parse_dataflow(request.one_of("dataflow", "ws", {"ws", "os", "is"}))};
    const tpu::Overlap overlap =
        tpu::parse_overlap(request.one_of("overlap", "none", {"none", "drain", "double"}));
    const bool is_small = request.one_of("values", "small", {"small", "run"}) == "small";
    request.finish();
    const tpu::ArrayUse use = tpu::array_use(array, overlap, gemm);
    if (use.cycles * array.rows * array.columns > kMostPeCycles)
        throw InputError(
            fmt::format("{} cycles of {} PEs are too many to look at; choose a smaller product",
                        use.cycles, array.rows * array.columns));
    const tpu::Operands<std::int32_t> operands =
        is_small ? small_operands(gemm) : run_operands(gemm);
    const tpu::WatchedRun<std::int32_t> run = tpu::watch_netlist(array, overlap, operands);
    LOCKSTEP_CHECK(run.result.cycles == use.cycles, "{} cycles, {} in closed form",
                   run.result.cycles, use.cycles);
    const tpu::Folding folding = tpu::fold(array, gemm);
    const tpu::TileTiming timing = tpu::tile_timing(array, overlap, folding.stream);
    Json cycles = Json::array();
    for (const auto& pes : run.cycles) {
        Json row = Json::array();
        for (const auto& pe : pes) row.push_back(json_of(pe));
        cycles.push_back(std::move(row));
    }
    return {{"rows", array.rows},
            {"columns", array.columns},
            {"dataflow", tpu::dataflow_name(array.dataflow)},
            {"cycles", use.cycles},
            {"folds", {{"rows", folding.row_folds}, {"columns", folding.column_folds}}},
            {"tile",
             {{"load", timing.load},
              {"stream", timing.stream},
              {"unload", timing.unload},
              {"skew", timing.skew},
              {"interval", timing.interval}}},
            {"use",
             {{"stream", use.stream},
              {"load", use.load},
              {"skew", use.skew},
              {"utilization", use.utilization},
              {"fold_fill", use.fold_fill}}},
            {"a", matrix(operands.a, gemm.k)},
            {"b", matrix(operands.b, gemm.n)},
            {"c", matrix(run.result.c, gemm.n)},
            {"wires", {"west", "north", "sum_in", "sum_out", "held", "spare", "control"}},
            {"control", {"multiply", "shift", "swap", "first", "last", "unload"}},
            {"frames", std::move(cycles)}};
}

}  // namespace lockstep::lab
