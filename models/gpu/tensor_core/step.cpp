// SPDX-License-Identifier: Apache-2.0
// 16 dot-product units, each with an operand register a product. A feeder holds a group's operands
// at the inputs until its results are there, then takes these as the next group's accumulators: the
// chain of groups that longer dot products are. How deep silicon's pipeline is, and that it takes a
// new group each cycle, is left out: the stages are ours.
#include "models/gpu/tensor_core/step.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/gpu/tensor_core/unit.h"
#include "models/netlist/netlist_module.h"
#include "sim/engine/systemc_context.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

using tensor_core::DotProductUnit;

constexpr int kSide = TensorStep::kSide;

class Netlist : public netlist::NetlistModule {
  public:
    SC_HAS_PROCESS(Netlist);

    Netlist(const sc_core::sc_module_name& name, const TensorStep& step)
        : NetlistModule(name),
          step_(step),
          group_(std::min(step.rule.group, step.depth)),
          a_("a", static_cast<std::size_t>(kSide * group_)),
          b_("b", static_cast<std::size_t>(group_ * kSide)),
          c_("c", kSide * kSide),
          d_("d", kSide * kSide) {
        run_.groups.resize(kSide * kSide);
        for (int row = 0; row < kSide; ++row)
            for (int column = 0; column < kSide; ++column) make_unit(row, column);
        SC_METHOD(feed);
        sensitive << clk.posedge_event();
        dont_initialize();
        SC_METHOD(collect);
        sensitive << clk.negedge_event();
        dont_initialize();
    }

    TensorStepRun run(const std::string& vcd) {
        // One cycle more, in which the last result is seen.
        run_to_end(vcd, 1, [this](sc_core::sc_trace_file* file) {
            sc_core::sc_trace(file, clk, clk.name());
            for (const auto& unit : units_) unit->trace(file);
        });
        return std::move(run_);
    }

  private:
    static std::size_t index(int row, int column, int columns) {
        return static_cast<std::size_t>(row * columns + column);
    }

    void make_unit(int row, int column) {
        auto unit = std::make_unique<DotProductUnit>(fmt::format("dot_{}_{}", row, column).c_str(),
                                                     step_.rule, format_of(step_.type),
                                                     static_cast<std::size_t>(group_));
        unit->clk(clk);
        for (int k = 0; k < group_; ++k) {
            unit->a[static_cast<std::size_t>(k)](a_[index(row, k, group_)]);
            unit->b[static_cast<std::size_t>(k)](b_[index(k, column, kSide)]);
        }
        unit->c(c_[index(row, column, kSide)]);
        unit->d(d_[index(row, column, kSide)]);
        units_.push_back(std::move(unit));
    }

    /// At the first edge of a group: its operands, and what is accumulated on.
    void feed() {
        if (cycle_++ % (DotProductUnit::kStages + 1) != 0) return;
        for (int row = 0; row < kSide; ++row)
            for (int k = 0; k < group_; ++k) {
                a_[index(row, k, group_)].write(step_.a[index(row, first_ + k, step_.depth)]);
                b_[index(k, row, kSide)].write(step_.b[index(first_ + k, row, kSide)]);
            }
        for (std::size_t i = 0; i < c_.size(); ++i)
            c_[i].write(first_ == 0 ? step_.c[i] : d_[i].read());
    }

    /// Between edges, once a group's results are there.
    void collect() {
        if (is_done_ || cycle_ % (DotProductUnit::kStages + 1) != 0) return;
        for (std::size_t i = 0; i < units_.size(); ++i) run_.groups[i].push_back(units_[i]->look());
        first_ += group_;
        is_done_ = first_ == step_.depth;
        if (!is_done_) return;
        for (const auto& result : d_) run_.d.push_back(result.read());
        run_.cycles = cycle_;
        sc_core::sc_pause();
    }

    const TensorStep& step_;
    const int group_;
    sc_core::sc_vector<sc_core::sc_signal<std::uint32_t>> a_, b_, c_, d_;
    std::vector<std::unique_ptr<DotProductUnit>> units_;
    TensorStepRun run_;
    int first_ = 0;  ///< k of the group under way
    std::int64_t cycle_ = 0;
    bool is_done_ = false;
};

void check(const TensorStep& step) {
    const auto depth = static_cast<std::size_t>(step.depth);
    LOCKSTEP_CHECK(step.depth == 4 || step.depth == 8 || step.depth == 16, "a depth of {}",
                   step.depth);
    LOCKSTEP_CHECK(step.a.size() == kSide * depth && step.b.size() == kSide * depth &&
                       step.c.size() == kSide * kSide,
                   "operands of {}, {} and {} numbers", step.a.size(), step.b.size(),
                   step.c.size());
    LOCKSTEP_CHECK(step.rule.accumulator != sass::AccumulatorType::kE8m13, "an accumulator of fp8");
    const bool is_half = step.rule.accumulator == sass::AccumulatorType::kFp16;
    const auto are_finite = [](NumberFormat format, const std::vector<std::uint32_t>& numbers) {
        return std::all_of(numbers.begin(), numbers.end(),
                           [&](std::uint32_t bits) { return split(format, bits).is_finite; });
    };
    if (!are_finite(format_of(step.type), step.a) || !are_finite(format_of(step.type), step.b) ||
        !are_finite(is_half ? kFp16Number : kFp32Number, step.c))
        throw InputError("the netlist of a Tensor Core step takes finite numbers only");
}

}  // namespace

TensorStepRun run_tensor_step(const TensorStep& step, const std::string& vcd) {
    check(step);
    engine::use_fresh_systemc_context();
    Netlist netlist("step", step);
    return netlist.run(vcd);
}

}  // namespace lockstep::gpu
