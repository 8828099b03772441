// SPDX-License-Identifier: Apache-2.0
// What the tops of our netlists have in common: the clock, a run into a waveform, the way out of
// SystemC's context.
#pragma once

#include <string>
#include <systemc>
#include <utility>

#include "models/netlist/vcd_file.h"
#include "sim/engine/systemc_context.h"

namespace lockstep::netlist {

/// Made in a context of its own: engine::use_fresh_systemc_context() comes before it.
class NetlistModule : public sc_core::sc_module {
  public:
    /// 1 ns a cycle; the first edge is at 1 ns.
    sc_core::sc_clock clk{"clk", sc_core::sc_time(1, sc_core::SC_NS), 0.5,
                          sc_core::sc_time(1, sc_core::SC_NS)};

    ~NetlistModule() override { engine::leave_systemc_context(simcontext()); }

  protected:
    explicit NetlistModule(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}

    /// Runs until it stops itself, and `more_cycles` on. With a `vcd`, into a file of what
    /// trace_to(sc_trace_file*) names.
    template <typename TraceTo>
    void run_to_end(const std::string& vcd, double more_cycles, TraceTo&& trace_to) {
        if (vcd.empty()) return sc_core::sc_start();
        VcdFile file(vcd);
        trace_to(file.get());
        sc_core::sc_start(sc_core::sc_time(0.2, sc_core::SC_NS));
        file.opened();
        sc_core::sc_start();
        if (more_cycles > 0) sc_core::sc_start(sc_core::sc_time(more_cycles, sc_core::SC_NS));
        file.finish();
    }
};

}  // namespace lockstep::netlist
