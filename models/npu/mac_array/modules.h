// SPDX-License-Identifier: Apache-2.0
// The modules of the netlist. Registers change at the rising edge; what a module says of them it
// says at once, through wires. Only netlist.cpp includes it: SystemC is slow to compile.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <systemc>
#include <vector>

namespace lockstep::npu {

using sc_core::sc_in;
using sc_core::sc_out;
using Wires = sc_core::sc_vector<sc_core::sc_signal<std::int32_t>>;
using InPorts = sc_core::sc_vector<sc_in<std::int32_t>>;

/// A step: which input lanes take what.
struct ArrayStep {
    struct Lane {
        std::uint64_t ky, kx, channel;
    };
    std::vector<Lane> lanes;
    std::uint64_t decode;
    std::uint64_t first_output, outputs;  // of its group
    std::uint64_t first_position, positions;
    std::uint64_t values;               // of its group and stripe
    bool begins = false, ends = false;  // the sums of a group and stripe
};

/// An output channel: multipliers, their adder tree, and accumulators for two stripes.
class MacLane : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(MacLane);

    sc_in<bool> clk{"clk"};
    sc_in<bool> start{"start"};  ///< take the weights
    sc_in<bool> valid{"valid"};  ///< a position passes
    sc_in<bool> first{"first"};  ///< of its sums: they begin at zero
    sc_in<std::int32_t> bank{"bank"}, position{"position"};
    InPorts inputs;   ///< [pixel][lane]
    InPorts weights;  ///< [lane]
    Wires sums;       ///< [bank][position][pixel]

    MacLane(const sc_core::sc_module_name& name, std::uint32_t lanes, std::uint32_t pixels,
            std::uint32_t stripe)
        : sc_core::sc_module(name),
          inputs("inputs", lanes * pixels),
          weights("weights", lanes),
          sums("sums", 2 * stripe * pixels),
          lanes_(lanes),
          pixels_(pixels),
          stripe_(stripe),
          held_(lanes) {
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
    }

    void trace(sc_core::sc_trace_file* file) const override {
        for (std::uint32_t lane = 0; lane < lanes_; ++lane)
            sc_core::sc_trace(file, held_[lane],
                              std::string(name()) + ".weight_" + std::to_string(lane));
        for (const auto& sum : sums) sc_core::sc_trace(file, sum, sum.name());
    }

  private:
    void cycle() {
        if (start.read())
            for (std::uint32_t lane = 0; lane < lanes_; ++lane) held_[lane] = weights[lane].read();
        if (!valid.read()) return;
        for (std::uint32_t pixel = 0; pixel < pixels_; ++pixel) {
            const auto at = (static_cast<std::uint32_t>(bank.read()) * stripe_ +
                             static_cast<std::uint32_t>(position.read())) *
                                pixels_ +
                            pixel;
            auto sum = static_cast<std::uint32_t>(first.read() ? 0 : sums[at].read());
            for (std::uint32_t lane = 0; lane < lanes_; ++lane)
                sum +=
                    static_cast<std::uint32_t>(inputs[pixel * lanes_ + lane].read() * held_[lane]);
            sums[at].write(static_cast<std::int32_t>(sum));
        }
    }

    const std::uint32_t lanes_, pixels_, stripe_;
    std::vector<std::int32_t> held_;
};

/// Makes a step's weights while the step before passes; holds them out until they are taken.
class Decoder : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Decoder);

    sc_in<bool> clk{"clk"};
    sc_in<bool> start{"start"};         ///< the weights are taken: begin with the next
    sc_out<bool> ready{"ready"};        ///< they are there
    sc_out<std::int32_t> step{"step"};  ///< whose they are; the number of steps: none are left

    Decoder(const sc_core::sc_module_name& name, const std::vector<ArrayStep>& steps)
        : sc_core::sc_module(name), steps_(steps), left_("left"), at_("at") {
        left_.write(steps.empty() ? 0 : static_cast<std::int32_t>(steps[0].decode));
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
        SC_METHOD(show);
        sensitive << left_ << at_;
    }

  private:
    void cycle() {
        if (start.read()) {
            const auto next = static_cast<std::size_t>(at_.read()) + 1;
            at_.write(static_cast<std::int32_t>(next));
            const std::uint64_t decode = next < steps_.size() ? steps_[next].decode : 0;
            left_.write(static_cast<std::int32_t>(decode - std::min<std::uint64_t>(1, decode)));
        } else if (left_.read() != 0) {
            left_.write(left_.read() - 1);
        }
    }
    void show() {
        ready.write(left_.read() == 0 && static_cast<std::size_t>(at_.read()) < steps_.size());
        step.write(at_.read());
    }

    const std::vector<ArrayStep>& steps_;
    sc_core::sc_signal<std::int32_t> left_, at_;
};

/// Lets the positions of a step pass, one a cycle.
class Sequencer : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Sequencer);

    sc_in<bool> clk{"clk"};
    sc_in<bool> ready{"ready"};  ///< of the decoder
    sc_in<std::int32_t> next_step{"next_step"};
    sc_in<std::int32_t> banks_used{"banks_used"};  ///< whose sums have not all left
    sc_out<bool> start{"start"}, valid{"valid"}, first{"first"};
    sc_out<bool> opens{"opens"}, closes{"closes"};  ///< sums begin, are complete
    sc_out<std::int32_t> bank{"bank"}, position{"position"}, step{"step"};

    Sequencer(const sc_core::sc_module_name& name, const std::vector<ArrayStep>& steps)
        : sc_core::sc_module(name), steps_(steps), left_("left"), now_("now"), bank_("bank_now") {
        bank_.write(1);
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
        SC_METHOD(show);
        sensitive << left_ << now_ << bank_ << ready << next_step << banks_used;
    }

  private:
    bool starts() const {
        return left_.read() == 0 && ready.read() &&
               (!of(next_step.read()).begins || banks_used.read() < 2);
    }
    const ArrayStep& of(std::int32_t step) const {
        return steps_[std::min(static_cast<std::size_t>(step), steps_.size() - 1)];
    }
    std::int32_t next_bank() const {
        return of(next_step.read()).begins ? 1 - bank_.read() : bank_.read();
    }
    void cycle() {
        if (starts()) {
            left_.write(static_cast<std::int32_t>(of(next_step.read()).positions) - 1);
            now_.write(next_step.read());
            bank_.write(next_bank());
        } else if (left_.read() != 0) {
            left_.write(left_.read() - 1);
        }
    }
    void show() {
        const bool begins = starts();
        const std::int32_t passing = begins ? next_step.read() : now_.read();
        const ArrayStep& shown = of(passing);
        const auto total = static_cast<std::int32_t>(shown.positions);
        const bool passes = begins || left_.read() != 0;
        const std::int32_t at = begins ? 0 : total - left_.read();
        start.write(begins);
        valid.write(passes);
        opens.write(begins && shown.begins);
        closes.write(passes && shown.ends && at + 1 == total);
        // The first step of its sums is the one that begins them.
        first.write(shown.begins);
        bank.write(begins ? next_bank() : bank_.read());
        position.write(passes ? at : 0);
        step.write(passing);
    }

    const std::vector<ArrayStep>& steps_;
    sc_core::sc_signal<std::int32_t> left_, now_, bank_;
};

/// Takes complete sums out, some values a cycle, position by position.
class OutputStage : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(OutputStage);

    sc_in<bool> clk{"clk"};
    sc_in<bool> opens{"opens"}, closes{"closes"};
    sc_in<std::int32_t> bank{"bank"}, step{"step"};
    sc_out<std::int32_t> banks_used{"banks_used"};

    /// `take(step, bank, value)`: reads the value-th sum of that step's group and stripe.
    OutputStage(const sc_core::sc_module_name& name, const std::vector<ArrayStep>& steps,
                std::uint32_t values_a_cycle,
                std::function<void(const ArrayStep&, std::int32_t, std::uint64_t)> take)
        : sc_core::sc_module(name),
          steps_(steps),
          rate_(values_a_cycle),
          take_(std::move(take)),
          used_("used") {
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
        SC_METHOD(show);
        sensitive << used_;
    }

  private:
    struct Complete {
        std::int32_t step, bank;
        std::uint64_t taken = 0;
        bool fresh = true;  ///< its last products are being added at this very edge
    };
    void cycle() {
        std::int32_t used = used_.read();
        if (!queue_.empty()) {
            Complete& front = queue_.front();
            const ArrayStep& of = steps_[static_cast<std::size_t>(front.step)];
            // Sums that nothing takes (kept ones) are free as soon as they are complete.
            for (std::uint64_t n = 0; front.taken < of.values && (rate_ == 0 || n < rate_); ++n)
                take_(of, front.bank, front.taken++);
            if (front.taken == of.values) {
                queue_.pop_front();
                if (rate_ != 0) --used;
            }
        }
        if (opens.read()) ++used;
        if (closes.read()) {
            queue_.push_back({step.read(), bank.read()});
            if (rate_ == 0) --used;
        }
        used_.write(used);
    }
    void show() { banks_used.write(used_.read()); }

    const std::vector<ArrayStep>& steps_;
    const std::uint64_t rate_;
    const std::function<void(const ArrayStep&, std::int32_t, std::uint64_t)> take_;
    sc_core::sc_signal<std::int32_t> used_;
    std::deque<Complete> queue_;
};

}  // namespace lockstep::npu
