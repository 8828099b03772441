// SPDX-License-Identifier: Apache-2.0
// What is on the wires of the netlist, for those that look at it without a waveform viewer.
#pragma once

#include <vector>

#include "models/tpu/systolic/product.h"

namespace lockstep::tpu {

/// A PE during one cycle, by the names of the trace: what enters it, what it holds, the sum that
/// leaves, and the control wave.
template <typename T>
struct PeWires {
    T west{}, north{}, sum_in{}, sum_out{}, held{}, spare{};
    bool shift = false, swap = false, multiply = false;  ///< swap, shift: ws, is
    bool first = false, last = false, unload = false;    ///< os
};

template <typename T>
struct WatchedRun {
    ArrayResult<T> result;
    /// [cycle][row * columns + column]. One more cycle than the run has: a sum is on its wire in
    /// the cycle after its product.
    std::vector<std::vector<PeWires<T>>> cycles;
};

/// Runs the netlist and keeps what is on its wires.
template <typename T>
WatchedRun<T> watch_netlist(const ArrayShape& array, Overlap overlap, const Operands<T>& operands);

extern template WatchedRun<std::int32_t> watch_netlist(const ArrayShape&, Overlap,
                                                       const Operands<std::int32_t>&);
extern template WatchedRun<float> watch_netlist(const ArrayShape&, Overlap, const Operands<float>&);

}  // namespace lockstep::tpu
