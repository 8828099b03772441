// SPDX-License-Identifier: Apache-2.0
// A processing element of the netlist. Only netlist.cpp includes it: SystemC is slow to compile.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <systemc>

#include "models/tpu/systolic/arithmetic.h"
#include "models/tpu/systolic/wires.h"

namespace lockstep::tpu {

/// What a PE is to do in a cycle; the wires of the control wave, which runs east with the data.
struct Control {
    bool shift = false;     ///< ws, is: pass the spare register on, take what comes from the north
    bool swap = false;      ///< ws, is: the spare register is from now on what is held
    bool multiply = false;  ///< multiply and add
    bool first = false;     ///< os: the sum begins at zero
    bool last = false;      ///< os: the sum is complete, a result
    bool unload = false;    ///< os: pass the result on, take what comes from the north

    bool operator==(const Control&) const = default;
};

/// sc_signal asks for it.
inline std::ostream& operator<<(std::ostream& out, const Control& c) {
    return out << c.shift << c.swap << c.multiply << c.first << c.last << c.unload;
}

/// sc_signal asks for it; Pe::trace shows the wires that its dataflow has.
inline void sc_trace(sc_core::sc_trace_file*, const Control&, const std::string&) {}

template <typename T>
class Pe : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Pe);

    sc_core::sc_in<bool> clk{"clk"};
    sc_core::sc_in<Control> control_in{"control_in"};
    sc_core::sc_out<Control> control_out{"control_out"};
    sc_core::sc_in<T> west_in{"west_in"};  ///< streamed operand
    sc_core::sc_out<T> west_out{"west_out"};
    sc_core::sc_in<T> north_in{
        "north_in"};  ///< ws, is: the tile being loaded; os: the other operand
    sc_core::sc_out<T> north_out{"north_out"};
    sc_core::sc_in<T> sum_in{"sum_in"};  ///< ws, is: partial sum; os: results on their way out
    sc_core::sc_out<T> sum_out{"sum_out"};

    Pe(const sc_core::sc_module_name& name, bool is_output_stationary)
        : sc_core::sc_module(name), is_output_stationary_(is_output_stationary) {
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
    }

    /// The wires that enter it, its registers, and the sum that leaves.
    void trace(sc_core::sc_trace_file* file) const override {
        const std::string path = std::string(name()) + ".";
        const Control& control = signal(control_in).read();
        sc_core::sc_trace(file, control.multiply, path + "multiply");
        if (is_output_stationary_) {
            sc_core::sc_trace(file, control.first, path + "first");
            sc_core::sc_trace(file, control.last, path + "last");
            sc_core::sc_trace(file, control.unload, path + "unload");
        } else {
            sc_core::sc_trace(file, control.shift, path + "shift");
            sc_core::sc_trace(file, control.swap, path + "swap");
        }
        sc_core::sc_trace(file, signal(west_in), path + "west");
        sc_core::sc_trace(file, signal(north_in), path + "north");
        sc_core::sc_trace(file, signal(sum_in), path + "sum_in");
        sc_core::sc_trace(file, signal(sum_out), path + "sum_out");
        sc_core::sc_trace(file, held_, path + "held");
        sc_core::sc_trace(file, spare_, path + "spare");
    }

    /// What is on the wires that trace() shows.
    PeWires<T> wires() const {
        const Control& control = signal(control_in).read();
        return {signal(west_in).read(),
                signal(north_in).read(),
                signal(sum_in).read(),
                signal(sum_out).read(),
                held_,
                spare_,
                control.shift,
                control.swap,
                control.multiply,
                control.first,
                control.last,
                control.unload};
    }

  private:
    template <typename Port>
    static const auto& signal(const Port& port) {
        return *port.operator->();
    }

    void cycle() {
        const Control control = control_in.read();
        control_out.write(control);
        west_out.write(west_in.read());
        if (is_output_stationary_)
            output_stationary(control);
        else
            weight_stationary(control);
    }

    void weight_stationary(Control control) {
        if (control.swap) held_ = spare_;
        if (control.shift) {
            north_out.write(spare_);
            spare_ = north_in.read();
        }
        if (control.multiply) sum_out.write(multiply_add(sum_in.read(), west_in.read(), held_));
    }

    void output_stationary(Control control) {
        if (control.unload) {
            sum_out.write(spare_);
            spare_ = sum_in.read();
        }
        if (control.multiply) {
            north_out.write(north_in.read());
            held_ = multiply_add(control.first ? T{} : held_, west_in.read(), north_in.read());
        }
        if (control.last) spare_ = held_;
    }

    const bool is_output_stationary_;
    T held_{}, spare_{};
};

}  // namespace lockstep::tpu
