// SPDX-License-Identifier: Apache-2.0
#include "models/tpu/systolic/array.h"

#include <algorithm>

#include "models/tpu/systolic/netlist.h"
#include "models/tpu/systolic/parameter_rows.h"
#include "models/tpu/systolic/registers.h"
#include "models/tpu/systolic/wavefront.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

/// Updates of a PE that `auto` spends on a product at register fidelity: seconds on one core.
constexpr std::int64_t kMostUpdates = std::int64_t{1} << 33;

constexpr Fidelity kAll[] = {Fidelity::kNetlist, Fidelity::kRegisters, Fidelity::kWavefront};

}  // namespace

std::string_view fidelity_name(Fidelity fidelity) {
    switch (fidelity) {
        case Fidelity::kNetlist:
            return "netlist";
        case Fidelity::kRegisters:
            return "registers";
        case Fidelity::kWavefront:
            return "wavefront";
    }
    internal_error(__FILE__, __LINE__, "no such fidelity");
}

ArrayParameters::ArrayParameters(const config::Machine& machine) {
    read_parameters(machine, *this);
    shape.dataflow = parse_dataflow(machine.text("array.dataflow"));
    overlap = parse_overlap(machine.text("array.overlap"));
    if (fidelity == "auto") return;
    for (const Fidelity known : kAll)
        if (fidelity == fidelity_name(known)) return;
    throw InputError(fmt::format(
        "array.fidelity: '{}' is none of auto, netlist, registers and wavefront", fidelity));
}

Fidelity ArrayParameters::fidelity_for(const GemmShape& gemm, bool wants_trace) const {
    if (wants_trace && fidelity != "auto" && fidelity != "netlist")
        throw InputError(fmt::format(
            "--trace shows the netlist; array.fidelity is {} (leave it at auto)", fidelity));
    if (wants_trace || fidelity == "netlist") {
        if (shape.rows > kLargestNetlist || shape.columns > kLargestNetlist)
            throw InputError(fmt::format("the array is {} x {}; as a netlist it can be {} x {}",
                                         shape.rows, shape.columns, kLargestNetlist,
                                         kLargestNetlist));
        return Fidelity::kNetlist;
    }
    for (const Fidelity known : kAll)
        if (fidelity == fidelity_name(known)) return known;
    const Folding f = fold(shape, gemm);
    const double updates = static_cast<double>(total_cycles(shape, overlap, f.stream, f.folds())) *
                           static_cast<double>(shape.rows * shape.columns);
    return updates <= static_cast<double>(kMostUpdates) ? Fidelity::kRegisters
                                                        : Fidelity::kWavefront;
}

template <typename T>
ArrayResult<T> run_array(const ArrayParameters& parameters, Fidelity fidelity,
                         const Operands<T>& operands, const NetlistTrace& trace) {
    LOCKSTEP_CHECK(trace.file.empty() || fidelity == Fidelity::kNetlist,
                   "a trace without a netlist");
    switch (fidelity) {
        case Fidelity::kNetlist:
            return run_netlist(parameters.shape, parameters.overlap, operands, trace);
        case Fidelity::kRegisters:
            return run_registers(parameters.shape, parameters.overlap, operands);
        case Fidelity::kWavefront:
            return run_wavefront(parameters.shape, parameters.overlap, operands);
    }
    internal_error(__FILE__, __LINE__, "no such fidelity");
}

template ArrayResult<std::int32_t> run_array(const ArrayParameters&, Fidelity,
                                             const Operands<std::int32_t>&, const NetlistTrace&);
template ArrayResult<float> run_array(const ArrayParameters&, Fidelity, const Operands<float>&,
                                      const NetlistTrace&);

ArrayUse array_use(const ArrayShape& array, Overlap overlap, const GemmShape& gemm) {
    const Folding f = fold(array, gemm);
    const TileTiming timing = tile_timing(array, overlap, f.stream);
    const std::int64_t folds = f.folds();
    ArrayUse use;
    use.cycles = total_cycles(array, overlap, f.stream, folds);
    use.stream = folds * f.stream;
    // Of each fold but one, what its interval has beyond the stream; of one, all.
    const std::int64_t beside = std::min(array.rows, timing.interval - f.stream);
    use.load = (folds - 1) * beside + array.rows;
    use.skew = use.cycles - use.stream - use.load;
    const double pes = static_cast<double>(array.rows * array.columns);
    use.utilization =
        100 * static_cast<double>(gemm.macs()) / (static_cast<double>(use.cycles) * pes);
    use.fold_fill =
        100 * static_cast<double>(f.rows * f.columns) / (static_cast<double>(folds) * pes);
    const std::int64_t a = gemm.m * gemm.k, b = gemm.k * gemm.n, c = gemm.m * gemm.n;
    switch (array.dataflow) {
        case Dataflow::kWeightStationary:
            use.input_reads = a * f.column_folds;
            use.weight_reads = b;
            break;
        case Dataflow::kOutputStationary:
            use.input_reads = a * f.column_folds;
            use.weight_reads = b * f.row_folds;
            break;
        case Dataflow::kInputStationary:
            use.input_reads = a;
            use.weight_reads = b * f.column_folds;
            break;
    }
    const bool is_os = array.dataflow == Dataflow::kOutputStationary;
    use.output_writes = is_os ? c : c * f.row_folds;
    use.output_reads = use.output_writes - c;
    return use;
}

}  // namespace lockstep::tpu
