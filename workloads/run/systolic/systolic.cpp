// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/systolic/systolic.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "models/tpu/systolic/array.h"
#include "workloads/network/builtin/product_data.h"
#include "workloads/network/reference/fold.h"
#include "workloads/run/network_source.h"
#include "workloads/run/systolic/metrics.h"

namespace lockstep::run {

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

Work work_of(const Job& job, const Subject& subject) {
    Work work;
    NetworkSource source = read_network(job, subject, false);
    if (!subject.file.empty()) network::simplify(source.graph);
    work.type = source.dtype.value_or(work.type);
    if (work.type != network::ElementType::kInt8 && work.type != network::ElementType::kBf16)
        throw InputError(
            fmt::format("the array multiplies int8 and bf16, not {}", network::name_of(work.type)));
    work.products = network::matrix_products(source.graph);
    if (work.products.empty())
        throw InputError(fmt::format(
            "{}: no matrix product in it, and a bare array does nothing else", job.what));
    if (!job.no_values)
        for (const MatrixProduct& product : work.products) check_size(product);
    for (const network::Node& node : source.graph.nodes)
        work.other_operators +=
            node.op != network::Operator::kConv && node.op != network::Operator::kGemm &&
            node.op != network::Operator::kMatMul && node.op != network::Operator::kLSTM;
    return work;
}

tpu::NetlistTrace trace_of(const Job& job) {
    const CycleRange range = trace_window(job);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return {job.trace_file, static_cast<std::int64_t>(std::min(range.from, kMost)),
            static_cast<std::int64_t>(std::min(range.until, kMost))};
}

/// Computes all `count` of a product on the array. Returns what is wrong with the results, or "".
template <typename T>
std::string compute(const Job& job, const ArrayParameters& array, tpu::Fidelity fidelity,
                    const MatrixProduct& product, std::size_t index) {
    const tpu::GemmShape shape{product.m, product.n, product.k};
    const std::int64_t expected = tpu::array_use(array.shape, array.overlap, shape).cycles;
    for (std::int64_t i = 0; i < product.count; ++i) {
        const network::ProductData<T> data(product, job.seed + (index << 32), i);
        const tpu::Operands<T> operands{shape, data.a(), data.b()};
        const tpu::ArrayResult<T> result = tpu::run_array(array, fidelity, operands, trace_of(job));
        LOCKSTEP_CHECK(result.cycles == expected, "{}: {} cycles at fidelity {}, {} in closed form",
                       product.name, result.cycles, fidelity_name(fidelity), expected);
        if (!job.verify) continue;
        if (std::string wrong = data.check(result.c); !wrong.empty()) return wrong;
    }
    return "";
}

std::string line_of(const MatrixProduct& product, const ArrayParameters& array,
                    std::string_view fidelity, bool has_time) {
    const tpu::GemmShape shape{product.m, product.n, product.k};
    const tpu::ArrayUse use = tpu::array_use(array.shape, array.overlap, shape);
    const tpu::Folding f = tpu::fold(array.shape, shape);
    const std::string times = product.count == 1 ? "" : fmt::format("{} x ", product.count);
    std::string line = fmt::format(
        "{}  {}m={} n={} k={}  {}x{} {} {}", product.name, times, product.m, product.n, product.k,
        array.shape.rows, array.shape.columns, tpu::dataflow_name(array.shape.dataflow), fidelity);
    if (has_time)
        line += fmt::format(
            "  folds {}x{}  cycles {} (stream {}, load {}, skew {})  utilization {:.2f}% (folds "
            "{:.2f}% full)",
            f.row_folds, f.column_folds, use.cycles * product.count, use.stream * product.count,
            use.load * product.count, use.skew * product.count, use.utilization, use.fold_fill);
    return line + "\n";
}

/// The wires of one run are one trace, of a size that can be looked at.
void check_trace(const Job& job, const Work& work, const ArrayParameters& array) {
    if (job.trace_file.empty()) return;
    if (work.products.size() != 1 || work.products.front().count != 1)
        throw InputError(
            fmt::format("--trace shows a single matrix product; {} has more", job.what));
    const MatrixProduct& product = work.products.front();
    const tpu::GemmShape shape{product.m, product.n, product.k};
    array.fidelity_for(shape, true);  // refuses arrays that no netlist has
    const std::int64_t cycles = tpu::array_use(array.shape, array.overlap, shape).cycles;
    const tpu::NetlistTrace trace = trace_of(job);
    if (trace.from >= cycles)
        throw InputError(
            fmt::format("--trace-window {}: the run has {} cycles", job.trace_window, cycles));
    const std::int64_t of_cycle = array.shape.rows * array.shape.columns * tpu::kTraceBytesOfPe;
    const std::int64_t shown = std::min(trace.until, cycles) - trace.from;
    if (shown > tpu::kMostTraceBytes / of_cycle)
        throw InputError(fmt::format(
            "--trace {}: {} cycles of {} x {} PEs may take {:.1f} GiB, and at most {} GiB is "
            "written: choose up to {} cycles with --trace-window FROM:TO",
            job.trace_file, shown, array.shape.rows, array.shape.columns,
            static_cast<double>(shown) * static_cast<double>(of_cycle) / 0x1p30,
            tpu::kMostTraceBytes >> 30, tpu::kMostTraceBytes / of_cycle));
}

/// Runs one node's products and reports them. Returns false where a result was wrong.
bool run_product(const Job& job, const ArrayParameters& array, const Work& work, std::size_t index,
                 Screen& screen) {
    const MatrixProduct& product = work.products[index];
    const bool has_time = job.mode != Mode::kEmulate;
    std::string wrong;
    std::string_view fidelity = "closed form";
    if (!job.no_values) {
        const tpu::Fidelity used =
            array.fidelity_for({product.m, product.n, product.k}, !job.trace_file.empty());
        fidelity = tpu::fidelity_name(used);
        wrong = work.type == network::ElementType::kBf16
                    ? compute<float>(job, array, used, product, index)
                    : compute<std::int32_t>(job, array, used, product, index);
    }
    screen.print(line_of(product, array, fidelity, has_time));
    if (!wrong.empty())
        screen.print_always(fmt::format("MISMATCH {}\n", wrong));
    else if (job.verify)
        screen.print(fmt::format("verified {}: {} elements\n", product.name,
                                 product.m * product.n * product.count));
    return wrong.empty();
}

void print_total(const Work& work, const ArrayParameters& array, std::int64_t cycles,
                 std::int64_t macs, Screen& screen) {
    const double pes = static_cast<double>(array.shape.rows * array.shape.columns);
    if (work.products.size() > 1 && cycles != 0)
        screen.print(
            fmt::format("all {}  cycles {}  utilization {:.2f}%\n", work.products.size(), cycles,
                        100 * static_cast<double>(macs) / (static_cast<double>(cycles) * pes)));
    if (work.other_operators != 0)
        screen.print(fmt::format("{} other operators are not an array's work and were not run\n",
                                 work.other_operators));
}

}  // namespace

Outcome run_systolic(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen) {
    ArrayParameters array(*machine);
    const Work work = work_of(job, subject);
    check_trace(job, work, array);
    const bool has_time = job.mode != Mode::kEmulate;
    if (!has_time) array.fidelity = "wavefront";
    Outcome outcome{{machine->name(), std::string(name_of(job.mode)), job.what}};
    std::int64_t all_cycles = 0, all_macs = 0;
    for (std::size_t i = 0; i < work.products.size(); ++i) {
        const MatrixProduct& product = work.products[i];
        const tpu::GemmShape shape{product.m, product.n, product.k};
        screen.progress("products", i, work.products.size());
        outcome.passed &= run_product(job, array, work, i, screen);
        stats::Step step = step_of(product, array);
        if (!has_time) step.metrics = {{"macs", static_cast<std::uint64_t>(product.macs())}};
        outcome.statistics.add(std::move(step));
        const std::int64_t cycles =
            has_time ? tpu::array_use(array.shape, array.overlap, shape).cycles * product.count : 0;
        // An instruction is a fold: what the array does by itself once it is told.
        outcome.statistics.add_time(
            static_cast<std::uint64_t>(cycles),
            static_cast<double>(cycles) / (array.clock_mhz * 1e6),
            static_cast<std::uint64_t>(tpu::fold(array.shape, shape).folds() * product.count));
        all_cycles += cycles;
        all_macs += product.macs();
    }
    print_total(work, array, all_cycles, all_macs, screen);
    return outcome;
}

}  // namespace lockstep::run
