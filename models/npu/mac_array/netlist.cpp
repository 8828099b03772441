// SPDX-License-Identifier: Apache-2.0
// Two more processes make the netlist whole: one puts the inputs of the position that passes, and
// the weights that the decoder holds out, on their wires; one looks between the edges whether all
// is done. The steps are laid out here by themselves, not taken from the plan.
#include "models/npu/mac_array/netlist.h"

#include <algorithm>
#include <memory>

#include "models/netlist/netlist_module.h"
#include "models/npu/mac_array/modules.h"
#include "sim/engine/systemc_context.h"
#include "sim/error/error.h"
#include "sim/numerics/integer.h"

namespace lockstep::npu {

namespace {

using enum Field;
using numerics::divide_up;
using sc_core::sc_signal;

/// The lanes of each step of a group, in the array's order: whole steps first.
std::vector<std::vector<ArrayStep::Lane>> lay_out(const Instruction& i, const Parameters& p,
                                                  std::uint64_t lanes) {
    const std::uint64_t channels = i[kChannels], width = i[kKernelWidth];
    const bool shares = p.array.taps_share_lanes && lanes / channels >= 2 && width >= 2;
    const std::uint64_t height = i[kKernelHeight], moves = channels * i[kStrideWidth];
    const auto has_room = [&](std::uint64_t rows) {
        return shares && rows <= p.array.lines_share_lanes && i[kDilationHeight] <= 1 &&
               i[kUpsampleHeight] <= 1 && std::max(channels * width, moves) <= lanes / rows;
    };
    const std::uint64_t rows = has_room(4) ? 4 : has_room(2) ? 2 : 1;
    // What follows each other: the channels of a tap, or all taps of a kernel row or several.
    const std::uint64_t run = shares ? channels * width * rows : channels,
                        runs = shares ? divide_up(height, rows) : height * width,
                        most = rows > 1 ? run
                               : shares ? channels * std::min(lanes / channels, width)
                                        : std::min(lanes, channels);
    std::vector<std::vector<ArrayStep::Lane>> whole, rest;
    for (std::uint64_t r = 0; r < runs; ++r)
        for (std::uint64_t first = 0; first < run; first += most) {
            std::vector<ArrayStep::Lane> step;
            for (std::uint64_t at = first; at < std::min(run, first + most); ++at) {
                const std::uint64_t tap = shares ? r * rows * width + at / channels : r;
                if (tap / width >= height) break;
                step.push_back({tap / width, tap % width, at % channels});
            }
            (step.size() == most ? whole : rest).push_back(std::move(step));
        }
    whole.insert(whole.end(), rest.begin(), rest.end());
    return whole;
}

std::vector<ArrayStep> all_steps(const Instruction& i, const Parameters& p, std::uint64_t lanes) {
    const auto layout = lay_out(i, p, lanes);
    const std::uint64_t height = i[kOutHeight], width = i[kOutWidth],
                        a_row = divide_up(width, p.array.pixels), positions = height * a_row;
    const double bytes = double(i[kWeightBytes]) / double(weights_of(i));
    std::vector<ArrayStep> steps;
    for (std::uint64_t first = 0; first < positions; first += p.array.stripe)
        for (std::uint64_t output = 0; output < i[kOutChannels]; output += p.array.outputs) {
            const std::uint64_t some = std::min<std::uint64_t>(p.array.stripe, positions - first),
                                outputs = std::min<std::uint64_t>(p.array.outputs,
                                                                  i[kOutChannels] - output);
            std::uint64_t pixels = 0;
            for (std::uint64_t at = first; at < first + some; ++at)
                pixels +=
                    std::min<std::uint64_t>(p.array.pixels, width - at % a_row * p.array.pixels);
            const std::size_t begin = steps.size();
            for (const auto& of_step : layout) {
                const std::uint64_t weights = of_step.size() * outputs;
                const auto from_stream = static_cast<std::uint64_t>(double(weights) * bytes);
                steps.push_back({of_step,
                                 std::max(divide_up(weights, p.decoder.values),
                                          divide_up(from_stream, p.decoder.bytes)),
                                 output, outputs, first, some, pixels * outputs});
            }
            steps[begin].begins = steps.back().ends = true;
        }
    return steps;
}

class Netlist : public netlist::NetlistModule {
  public:
    SC_HAS_PROCESS(Netlist);

    Netlist(const sc_core::sc_module_name& name, const Instruction& i, const Parameters& p,
            const NetlistOperands& operands, std::uint32_t values_a_cycle)
        : NetlistModule(name),
          i_(i),
          operands_(operands),
          lanes_(p.array.inputs * split_factor(i, p.array)),
          outputs_(p.array.outputs),
          pixels_(p.array.pixels),
          stripe_(p.array.stripe),
          a_row_(divide_up(i[kOutWidth], p.array.pixels)),
          steps_(all_steps(i, p, lanes_)),
          inputs_("input", std::size_t{lanes_} * pixels_),
          weights_("weight", std::size_t{lanes_} * outputs_),
          decoder_("decoder", steps_),
          sequencer_("sequencer", steps_),
          output_("output", steps_, values_a_cycle,
                  [this](const ArrayStep& step, std::int32_t bank, std::uint64_t value) {
                      take(step, bank, value);
                  }) {
        result_.cycles = 1;  // the one before the first edge
        result_.sums.resize(i[kOutHeight] * i[kOutWidth] * i[kOutChannels]);
        connect();
        SC_METHOD(feed);
        sensitive << step_ << position_ << next_step_ << valid_;
        SC_METHOD(watch);
        sensitive << clk.negedge_event();
        dont_initialize();
    }

    NetlistResult run(const std::string& vcd) {
        run_to_end(vcd, 0, [this](sc_core::sc_trace_file* file) { trace_to(file); });
        return std::move(result_);
    }

  private:
    void connect() {
        for (std::uint32_t k = 0; k < outputs_; ++k) {
            macs_.push_back(std::make_unique<MacLane>(fmt::format("output_{}", k).c_str(), lanes_,
                                                      pixels_, stripe_));
            MacLane& lane = *macs_.back();
            lane.clk(clk);
            lane.start(start_);
            lane.valid(valid_);
            lane.first(first_);
            lane.bank(bank_);
            lane.position(position_);
            for (std::uint32_t n = 0; n < lanes_ * pixels_; ++n) lane.inputs[n](inputs_[n]);
            for (std::uint32_t n = 0; n < lanes_; ++n) lane.weights[n](weights_[k * lanes_ + n]);
        }
        decoder_.clk(clk);
        decoder_.start(start_);
        decoder_.ready(ready_);
        decoder_.step(next_step_);
        sequencer_.clk(clk);
        sequencer_.ready(ready_);
        sequencer_.next_step(next_step_);
        sequencer_.banks_used(banks_used_);
        sequencer_.start(start_);
        sequencer_.valid(valid_);
        sequencer_.first(first_);
        sequencer_.opens(opens_);
        sequencer_.closes(closes_);
        sequencer_.bank(bank_);
        sequencer_.position(position_);
        sequencer_.step(step_);
        output_.clk(clk);
        output_.opens(opens_);
        output_.closes(closes_);
        output_.bank(bank_);
        output_.step(step_);
        output_.banks_used(banks_used_);
    }

    void trace_to(sc_core::sc_trace_file* file) const {
        sc_core::sc_trace(file, clk, clk.name());
        for (const sc_signal<bool>* wire : {&ready_, &start_, &valid_, &first_, &opens_, &closes_})
            sc_core::sc_trace(file, *wire, wire->name());
        for (const sc_signal<std::int32_t>* wire :
             {&next_step_, &step_, &bank_, &position_, &banks_used_})
            sc_core::sc_trace(file, *wire, wire->name());
        for (const auto& wire : inputs_) sc_core::sc_trace(file, wire, wire.name());
        for (const auto& lane : macs_) lane->trace(file);
    }

    /// Pixel of a position: its row and column; past the end of the row there is none.
    struct Place {
        std::uint64_t y, x;
        bool exists;
    };
    Place place(std::uint64_t position, std::uint64_t pixel) const {
        const std::uint64_t x = position % a_row_ * pixels_ + pixel;
        return {position / a_row_, x, x < i_[kOutWidth]};
    }

    void feed() {
        const auto next = static_cast<std::size_t>(next_step_.read());
        if (next < steps_.size() && next != shown_) {
            shown_ = next;
            const ArrayStep& step = steps_[next];
            for (std::uint64_t k = 0; k < outputs_; ++k)
                for (std::uint64_t lane = 0; lane < lanes_; ++lane) {
                    const bool used = k < step.outputs && lane < step.lanes.size();
                    const ArrayStep::Lane at = used ? step.lanes[lane] : ArrayStep::Lane{};
                    weights_[k * lanes_ + lane].write(
                        used ? operands_.weight(step.first_output + k, at.ky, at.kx, at.channel)
                             : 0);
                }
        }
        if (!valid_.read()) return;
        const ArrayStep& step = steps_[static_cast<std::size_t>(step_.read())];
        for (std::uint64_t pixel = 0; pixel < pixels_; ++pixel) {
            const Place at =
                place(step.first_position + static_cast<std::uint64_t>(position_.read()), pixel);
            for (std::uint64_t lane = 0; lane < lanes_; ++lane) {
                std::int32_t value = 0;
                if (at.exists && lane < step.lanes.size()) {
                    const ArrayStep::Lane& tap = step.lanes[lane];
                    value = operands_.input(
                        static_cast<std::int64_t>(at.y * i_[kStrideHeight] +
                                                  tap.ky * i_[kDilationHeight] - i_[kPadTop]),
                        static_cast<std::int64_t>(at.x * i_[kStrideWidth] +
                                                  tap.kx * i_[kDilationWidth] - i_[kPadLeft]),
                        tap.channel);
                }
                inputs_[pixel * lanes_ + lane].write(value);
            }
        }
    }

    /// The value-th sum of a group and stripe: position by position, pixel by pixel.
    void take(const ArrayStep& step, std::int32_t bank, std::uint64_t value) {
        std::uint64_t rest = value / step.outputs;
        const std::uint64_t k = value % step.outputs;
        for (std::uint64_t position = 0;; ++position)
            for (std::uint64_t pixel = 0; pixel < pixels_; ++pixel) {
                const Place at = place(step.first_position + position, pixel);
                if (!at.exists || rest-- != 0) continue;
                result_.sums[(at.y * i_[kOutWidth] + at.x) * i_[kOutChannels] + step.first_output +
                             k] =
                    macs_[k]
                        ->sums[(static_cast<std::uint64_t>(bank) * stripe_ + position) * pixels_ +
                               pixel]
                        .read();
                return;
            }
    }

    /// In the middle of a cycle that nothing is left to do in.
    void watch() {
        const bool left = static_cast<std::size_t>(next_step_.read()) < steps_.size();
        // One cycle more lets kept sums be read.
        if (left || valid_.read() || banks_used_.read() != 0) {
            ++result_.cycles;
            return;
        }
        if (idle_++ == 0) return;
        sc_core::sc_pause();
    }

    const Instruction& i_;
    const NetlistOperands& operands_;
    const std::uint32_t lanes_, outputs_, pixels_, stripe_;
    const std::uint64_t a_row_;
    const std::vector<ArrayStep> steps_;
    Wires inputs_, weights_;
    sc_signal<bool> ready_{"ready"}, start_{"start"}, valid_{"valid"}, first_{"first"},
        opens_{"opens"}, closes_{"closes"};
    sc_signal<std::int32_t> next_step_{"next_step"}, step_{"step"}, bank_{"bank"},
        position_{"position"}, banks_used_{"banks_used"};
    Decoder decoder_;
    Sequencer sequencer_;
    OutputStage output_;
    std::vector<std::unique_ptr<MacLane>> macs_;
    std::size_t shown_ = ~std::size_t{0};
    NetlistResult result_;
    int idle_ = 0;
};

}  // namespace

bool netlist_fits(const Parameters& p) {
    return p.array.inputs <= kLargestArray && p.array.outputs <= kLargestArray &&
           std::uint64_t{p.array.stripe} * p.array.pixels <= 2 * kLargestArray;
}

std::string check_netlist(const Instruction& i, const Parameters& p) {
    if (i.opcode() != Opcode::kConvolve) return "the netlist shows convolve alone";
    if (i[kUpsampleHeight] > 1 || i[kUpsampleWidth] > 1) return "the netlist knows no upsampling";
    if (uses_winograd(i, p.limits()) || skips_zeros(i, p.limits()))
        return "the netlist multiplies directly: array.winograd and array.zero_skipping are off";
    const std::uint64_t lanes = std::uint64_t{p.array.inputs} * split_factor(i, p.array);
    if (lanes > kLargestArray || p.array.outputs > kLargestArray ||
        std::uint64_t{p.array.stripe} * p.array.pixels > 2 * kLargestArray)
        return fmt::format(
            "the netlist has at most {} x {} lanes and stripes of {} pixels, not {} x {} and {}; "
            "--set array.inputs=, array.outputs=, array.pixels= and array.stripe= make it smaller",
            kLargestArray, kLargestArray, 2 * kLargestArray, lanes, p.array.outputs,
            p.array.stripe * p.array.pixels);
    return "";
}

NetlistResult run_netlist(const Instruction& i, const Parameters& parameters,
                          const NetlistOperands& operands, std::uint32_t values_a_cycle,
                          const std::string& vcd) {
    const std::string wrong = check_netlist(i, parameters);
    LOCKSTEP_CHECK(wrong.empty(), "{}", wrong);
    engine::use_fresh_systemc_context();
    Netlist netlist("array", i, parameters, operands, values_a_cycle);
    return netlist.run(vcd);
}

}  // namespace lockstep::npu
