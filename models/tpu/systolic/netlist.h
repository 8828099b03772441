// SPDX-License-Identifier: Apache-2.0
// The array as a SystemC netlist: an sc_module a PE, with sc_signals between them. For looking at
// wires: 220 to 750 times slower than the flat registers.
#pragma once

#include "models/tpu/systolic/netlist_trace.h"
#include "models/tpu/systolic/product.h"

namespace lockstep::tpu {

/// PEs a side that the netlist may have at most.
inline constexpr std::int64_t kLargestNetlist = 32;

/// In the trace a clock cycle is 1 ns. Throws InputError where it cannot be written.
template <typename T>
ArrayResult<T> run_netlist(const ArrayShape& array, Overlap overlap, const Operands<T>& operands,
                           const NetlistTrace& trace = {});

extern template ArrayResult<std::int32_t> run_netlist(const ArrayShape&, Overlap,
                                                      const Operands<std::int32_t>&,
                                                      const NetlistTrace&);
extern template ArrayResult<float> run_netlist(const ArrayShape&, Overlap, const Operands<float>&,
                                               const NetlistTrace&);

}  // namespace lockstep::tpu
