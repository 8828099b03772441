// SPDX-License-Identifier: Apache-2.0
// The machine `systolic`: a bare array with its parameters, run at the fidelity asked for.
#pragma once

#include <string>

#include "models/tpu/systolic/netlist_trace.h"
#include "models/tpu/systolic/product.h"
#include "sim/config/schema.h"

namespace lockstep::config {
class Machine;
}

namespace lockstep::tpu {

enum class Fidelity : std::uint8_t {
    kNetlist,    ///< an sc_module a PE, sc_signals between them; can write a VCD
    kRegisters,  ///< flat registers, cycle by cycle
    kWavefront,  ///< closed form
};

std::string_view fidelity_name(Fidelity fidelity);
inline constexpr config::Choice kFidelities[] = {{"auto", "registers, or wavefront for large runs"},
                                                 {"netlist", "up to 32x32"},
                                                 {"registers", ""},
                                                 {"wavefront", "closed form"}};

struct ArrayParameters {
    ArrayShape shape;
    Overlap overlap = Overlap::kNone;
    std::string fidelity = "auto";
    double clock_mhz = 1;

    /// Of a machine of kind "systolic". Throws InputError on names that do not exist.
    explicit ArrayParameters(const config::Machine& machine);
    ArrayParameters() = default;

    /// The fidelity for a product: what was set, or for "auto" the registers unless that would take
    /// more than a few seconds. With `wants_trace` the netlist. Throws InputError where the
    /// netlist is too large.
    Fidelity fidelity_for(const GemmShape& gemm, bool wants_trace) const;
};

/// `trace`: netlist only.
template <typename T>
ArrayResult<T> run_array(const ArrayParameters& parameters, Fidelity fidelity,
                         const Operands<T>& operands, const NetlistTrace& trace = {});

extern template ArrayResult<std::int32_t> run_array(const ArrayParameters&, Fidelity,
                                                    const Operands<std::int32_t>&,
                                                    const NetlistTrace&);
extern template ArrayResult<float> run_array(const ArrayParameters&, Fidelity,
                                             const Operands<float>&, const NetlistTrace&);

/// Where the cycles of a run of equal folds go.
struct ArrayUse {
    std::int64_t cycles = 0;
    std::int64_t stream = 0;  ///< a vector enters
    std::int64_t load = 0;    ///< only the held tile enters, or (os) results leave
    std::int64_t skew = 0;    ///< neither: the wave runs out
    double utilization = 0;   ///< useful products per PE and cycle, percent
    double fold_fill = 0;     ///< of it: how full the folds are, percent
    std::int64_t input_reads = 0, weight_reads = 0;  ///< elements that enter the array
    std::int64_t output_writes = 0,
                 output_reads = 0;  ///< sums that the accumulators take, and add to
};

ArrayUse array_use(const ArrayShape& array, Overlap overlap, const GemmShape& gemm);

}  // namespace lockstep::tpu
