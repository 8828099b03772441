// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_systolic.h"

#include <fmt/format.h>

#include <filesystem>

#include "models/tpu/systolic/array.h"
#include "models/tpu/systolic/scalesim.h"
#include "sim/cli/progress.h"
#include "sim/config/machine.h"
#include "sim/stats/statistics.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/product_data.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::cli {

namespace {

using network::MatrixProduct;
using tpu::ArrayParameters;

struct Work {
    std::vector<MatrixProduct> products;
    std::size_t other_operators = 0;
    network::ElementType type = network::ElementType::kInt8;
};

/// Operands and results are held whole.
void check_size(const MatrixProduct& product) {
    constexpr double kMostElements = 0x1p31;
    const auto size = [](std::int64_t rows, std::int64_t columns) {
        return static_cast<double>(rows) * static_cast<double>(columns);
    };
    if (size(product.m, product.k) + size(product.k, product.n) + size(product.m, product.n) >
        kMostElements)
        throw InputError(fmt::format(
            "{}: a product of {} x {} with {} x {} has more than 2^31 elements; --no-values "
            "computes none of them",
            product.name, product.m, product.k, product.k, product.n));
}

Work work_of(const RunRequest& request) {
    Work work;
    network::Graph graph;
    // What stands behind a file's name are the extents of its symbolic dimensions.
    const std::size_t ending = request.what.find(".onnx");
    const std::string file =
        ending == std::string::npos ? "" : request.what.substr(0, request.what.find(':', ending));
    network::BuiltinRequest builtin;
    if (file.empty() && !std::filesystem::is_regular_file(request.what))
        builtin = network::parse_builtin(request.what);
    else if (file.size() < request.what.size())
        builtin = network::parse_builtin("network" + request.what.substr(file.size()));
    work.type = builtin.dtype.value_or(work.type);
    if (!file.empty()) {
        graph = network::read_onnx(file, {.dimensions = builtin.options.parameters});
        network::simplify(graph);
    } else if (std::filesystem::is_regular_file(request.what)) {
        throw InputError(fmt::format(
            "{}: a systolic array runs networks: a built-in one, or an .onnx file", request.what));
    } else {
        builtin.options.with_values = false;
        graph = network::build_network(builtin.name, builtin.options);
    }
    if (work.type != network::ElementType::kInt8 && work.type != network::ElementType::kBf16)
        throw InputError(
            fmt::format("the array multiplies int8 and bf16, not {}", network::name_of(work.type)));
    work.products = network::matrix_products(graph);
    if (work.products.empty())
        throw InputError(fmt::format(
            "{}: no matrix product in it, and a bare array does nothing else", request.what));
    if (!request.no_values)
        for (const MatrixProduct& product : work.products) check_size(product);
    for (const network::Node& node : graph.nodes)
        work.other_operators +=
            node.op != network::Operator::kConv && node.op != network::Operator::kGemm &&
            node.op != network::Operator::kMatMul && node.op != network::Operator::kLSTM;
    return work;
}

tpu::ScaleSimLayer scalesim_layer(const MatrixProduct& product) {
    if (!product.convolution) return tpu::GemmShape{product.m, product.n, product.k};
    const network::Convolution& c = *product.convolution;
    const network::Window& w = c.window;
    const auto axis = [&](std::size_t d, std::int64_t extent) {
        return tpu::ScaleSimAxis{extent + w.pad_begin[d] + w.pad_end[d],
                                 (w.kernel[d] - 1) * w.dilation[d] + 1, w.stride[d]};
    };
    tpu::ScaleSimLayer layer = tpu::scalesim_convolution(c.batch, axis(0, c.height),
                                                         axis(1, c.width), c.channels, c.filters);
    layer.gemm.k = product.k;  // it knows no dilation
    return layer;
}

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

/// Computes all `count` of a product on the array. Returns what is wrong with the results, or "".
template <typename T>
std::string compute(const RunRequest& request, const ArrayParameters& array, tpu::Fidelity fidelity,
                    const MatrixProduct& product, std::size_t index) {
    const tpu::GemmShape shape{product.m, product.n, product.k};
    const std::int64_t expected = tpu::array_use(array.shape, array.overlap, shape).cycles;
    for (std::int64_t i = 0; i < product.count; ++i) {
        const network::ProductData<T> data(product, request.options.seed + (index << 32), i);
        const tpu::Operands<T> operands{shape, data.a(), data.b()};
        const tpu::ArrayResult<T> result =
            tpu::run_array(array, fidelity, operands, request.options.trace_file);
        LOCKSTEP_CHECK(result.cycles == expected, "{}: {} cycles at fidelity {}, {} in closed form",
                       product.name, result.cycles, fidelity_name(fidelity), expected);
        if (!request.verify) continue;
        if (std::string wrong = data.check(result.c); !wrong.empty()) return wrong;
    }
    return "";
}

void print_step(const MatrixProduct& product, const ArrayParameters& array,
                std::string_view fidelity, bool has_time) {
    const tpu::GemmShape shape{product.m, product.n, product.k};
    const tpu::ArrayUse use = tpu::array_use(array.shape, array.overlap, shape);
    const tpu::Folding f = tpu::fold(array.shape, shape);
    const std::string times = product.count == 1 ? "" : fmt::format("{} x ", product.count);
    fmt::print("{}  {}m={} n={} k={}  {}x{} {} {}", product.name, times, product.m, product.n,
               product.k, array.shape.rows, array.shape.columns,
               tpu::dataflow_name(array.shape.dataflow), fidelity);
    if (has_time)
        fmt::print(
            "  folds {}x{}  cycles {} (stream {}, load {}, skew {})  utilization {:.2f}% (folds "
            "{:.2f}% full)",
            f.row_folds, f.column_folds, use.cycles * product.count, use.stream * product.count,
            use.load * product.count, use.skew * product.count, use.utilization, use.fold_fill);
    fmt::print("\n");
}

void refuse(const RunRequest& request, const Work& work) {
    const cuda::RunOptions& options = request.options;
    for (const auto& [is_given, option] :
         {std::pair{options.max_instructions != 0, "--max-instructions"},
          {options.l2 != "cold", "--l2"},
          {!options.trace_window.empty(), "--trace-window"},
          {!options.trace_sms.empty(), "--trace-sms"}})
        if (is_given) throw InputError(fmt::format("{} means nothing on a systolic array", option));
    if (request.no_values)
        for (const auto& [is_given, what] :
             {std::pair{request.verify, "--verify checks"},
              {!request.options.trace_file.empty(), "--trace shows"},
              {request.options.mode == "emulate", "--mode emulate computes"}})
            if (is_given) throw InputError(fmt::format("{} values; --no-values has none", what));
    if (!request.options.trace_file.empty()) {
        if (!request.options.trace_file.ends_with(".vcd"))
            throw InputError(
                fmt::format("--trace {}: the array's trace is a .vcd", request.options.trace_file));
        if (work.products.size() != 1 || work.products.front().count != 1)
            throw InputError(
                fmt::format("--trace shows a single matrix product; {} has more", request.what));
        if (request.options.mode == "emulate") throw InputError("--trace needs cycle mode");
    }
}

/// Runs one node's products and reports them. Returns false where a result was wrong.
bool run_product(const RunRequest& request, const ArrayParameters& array, const Work& work,
                 std::size_t index, Progress& progress) {
    const MatrixProduct& product = work.products[index];
    const bool has_time = request.options.mode != "emulate";
    std::string wrong;
    std::string_view fidelity = "closed form";
    if (!request.no_values) {
        const tpu::Fidelity used = array.fidelity_for({product.m, product.n, product.k},
                                                      !request.options.trace_file.empty());
        fidelity = tpu::fidelity_name(used);
        wrong = work.type == network::ElementType::kBf16
                    ? compute<float>(request, array, used, product, index)
                    : compute<std::int32_t>(request, array, used, product, index);
    }
    progress.wipe();
    if (!request.options.quiet) print_step(product, array, fidelity, has_time);
    if (!wrong.empty())
        fmt::print("MISMATCH {}\n", wrong);
    else if (request.verify && !request.options.quiet)
        fmt::print("verified {}: {} elements\n", product.name,
                   product.m * product.n * product.count);
    return wrong.empty();
}

void print_total(const Work& work, const ArrayParameters& array, std::int64_t cycles,
                 std::int64_t macs) {
    const double pes = static_cast<double>(array.shape.rows * array.shape.columns);
    if (work.products.size() > 1 && cycles != 0)
        fmt::print("all {}  cycles {}  utilization {:.2f}%\n", work.products.size(), cycles,
                   100 * static_cast<double>(macs) / (static_cast<double>(cycles) * pes));
    if (work.other_operators != 0)
        fmt::print("{} other operators are not an array's work and were not run\n",
                   work.other_operators);
}

}  // namespace

int run_systolic(const RunRequest& request, const config::Machine& machine) {
    ArrayParameters array(machine);
    const Work work = work_of(request);
    refuse(request, work);
    const bool has_time = request.options.mode != "emulate";
    if (!has_time) array.fidelity = "wavefront";
    stats::Statistics statistics(machine.name(), request.options.mode, request.what);
    Progress progress(request.what, !request.options.quiet);
    int mismatches = 0;
    std::int64_t all_cycles = 0, all_macs = 0;
    for (std::size_t i = 0; i < work.products.size(); ++i) {
        const MatrixProduct& product = work.products[i];
        const tpu::GemmShape shape{product.m, product.n, product.k};
        progress.count("products", i, work.products.size());
        mismatches += !run_product(request, array, work, i, progress);
        stats::Step step = step_of(product, array);
        if (!has_time) step.metrics = {{"macs", static_cast<std::uint64_t>(product.macs())}};
        statistics.add(std::move(step));
        const std::int64_t cycles =
            has_time ? tpu::array_use(array.shape, array.overlap, shape).cycles * product.count : 0;
        // An instruction is a fold: what the array does by itself once it is told.
        statistics.add_time(
            static_cast<std::uint64_t>(cycles),
            static_cast<double>(cycles) / (array.clock_mhz * 1e6),
            static_cast<std::uint64_t>(tpu::fold(array.shape, shape).folds() * product.count));
        all_cycles += cycles;
        all_macs += product.macs();
    }
    if (!request.options.quiet) print_total(work, array, all_cycles, all_macs);
    if (!request.options.stats_file.empty()) statistics.write(request.options.stats_file);
    return static_cast<int>(mismatches == 0 ? ExitStatus::kDone : ExitStatus::kMismatch);
}

}  // namespace lockstep::cli
