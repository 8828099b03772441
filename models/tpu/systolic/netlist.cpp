// SPDX-License-Identifier: Apache-2.0
// One SC_METHOD a PE on the rising edge: it reads what its neighbours wrote at the edge before. The
// edges of the array are two more modules: Setup writes what enters from the west and the north,
// each row and column a cycle behind the one before (the TPU's systolic data setup); Collector
// reads what leaves at the south between the edges. Both follow the schedule by the step counters
// of each row and column, not by formulas of the whole; the run ends with the last result.
// A cycle is what happens at one rising edge: what Setup writes at edge t is cycle t's, and is
// taken by the PEs at edge t + 1.
#include "models/tpu/systolic/netlist.h"

#include <algorithm>
#include <memory>
#include <systemc>

#include "models/netlist/netlist_module.h"
#include "models/tpu/systolic/pe.h"
#include "sim/engine/systemc_context.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

using sc_core::sc_signal;

/// The steps of all folds, as seen from one row or column that is `lag` cycles behind PE (0, 0).
struct Schedule {
    TileTiming timing;
    std::int64_t folds;
    std::int64_t rows;
    bool is_os;

    std::int64_t steps() const { return timing.load + timing.stream + timing.unload; }

    /// The latest fold that has begun.
    std::int64_t newest(std::int64_t time) const {
        return std::min(folds - 1, time / timing.interval);
    }

    /// Calls `visit(fold, step)` for each fold that is at one of its steps at `time`.
    template <typename Visit>
    void at(std::int64_t time, const Visit& visit) const {
        if (time < 0) return;
        for (std::int64_t fold = newest(time); fold >= 0; --fold) {
            const std::int64_t step = time - fold * timing.interval;
            if (step >= steps()) return;
            visit(fold, step);
        }
    }

    Control control(std::int64_t time) const {
        Control result;
        at(time, [&](std::int64_t, std::int64_t step) {
            const std::int64_t vector = step - timing.load;
            result.shift |= vector < 0;
            result.multiply |= vector >= 0 && vector < timing.stream;
            result.swap |= !is_os && vector == 0;
            result.first |= is_os && vector == 0;
            result.last |= is_os && vector == timing.stream - 1;
            result.unload |= vector >= timing.stream;
        });
        return result;
    }
};

template <typename T>
class Netlist : public netlist::NetlistModule {
  public:
    SC_HAS_PROCESS(Netlist);

    Netlist(const sc_core::sc_module_name& name, const ArrayShape& array, Overlap overlap,
            const Operands<T>& operands)
        : NetlistModule(name),
          rows_(static_cast<int>(array.rows)),
          columns_(static_cast<int>(array.columns)),
          product_(array, operands),
          schedule_{tile_timing(array, overlap, product_.folding().stream),
                    product_.folding().folds(), array.rows, product_.is_output_stationary()} {
        make_signals();
        for (int r = 0; r < rows_; ++r)
            for (int c = 0; c < columns_; ++c) make_pe(r, c);
        SC_METHOD(setup);
        sensitive << clk.posedge_event();
        dont_initialize();
        SC_METHOD(collect);
        sensitive << clk.negedge_event();
        dont_initialize();
    }

    ArrayResult<T> run() {
        if (!is_done_) sc_core::sc_start();
        return {product_.take(), last_cycle_ + 1};
    }

    WatchedRun<T> watch() {
        WatchedRun<T> watched;
        // Cycle c lasts from the edge at c + 1 ns to the next; 0.7 behind it all is settled.
        for (double time = 1.7; !is_done_; time += 1) {
            run_until(time);
            std::vector<PeWires<T>>& wires = watched.cycles.emplace_back();
            for (const auto& pe : pes_) wires.push_back(pe->wires());
        }
        watched.result = {product_.take(), last_cycle_ + 1};
        return watched;
    }

    /// Runs to the end of the trace.
    void write_trace(const NetlistTrace& trace) {
        // A cycle lasts until the next edge, and the first edge is at 1 ns. The file counts tenths.
        constexpr double kBeforeEdge = 0.7;
        const auto from = static_cast<double>(trace.from);
        if (trace.from > 0) run_until(from + kBeforeEdge);
        netlist::VcdFile file(trace.file);
        trace_to(file.get());
        run_until(trace.from > 0 ? from + 0.9 : 0.2);
        file.opened();
        run_until(static_cast<double>(trace.until) + kBeforeEdge);
        file.finish();
    }

  private:
    void trace_to(sc_core::sc_trace_file* file) const {
        sc_core::sc_trace(file, clk, clk.name());
        sc_core::sc_trace(file, cycle_, std::string(name()) + ".cycle");
        sc_core::sc_trace(file, fold_, std::string(name()) + ".fold");
        for (const auto& pe : pes_) pe->trace(file);
    }

    /// To the time, or to the last result where that comes first.
    void run_until(double nanoseconds) {
        if (is_done_) return;
        constexpr double kForever = 1e9;  // a second; longer than any run that is traced
        const sc_core::sc_time end(std::min(nanoseconds, kForever), sc_core::SC_NS);
        if (end > sc_core::sc_time_stamp()) sc_core::sc_start(end - sc_core::sc_time_stamp());
    }

    template <typename S>
    using Signals = std::vector<std::unique_ptr<sc_signal<S>>>;

    /// The wire into PE (row, column) from the west or north; the last ones leave the array.
    template <typename S>
    static sc_signal<S>& wire(const Signals<S>& signals, int row, int column, int width) {
        return *signals[static_cast<std::size_t>(row * width + column)];
    }

    void make_signals() {
        const auto fill = [](auto& signals, const char* name, int rows, int columns) {
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < columns; ++c)
                    signals.push_back(
                        std::make_unique<
                            typename std::decay_t<decltype(signals)>::value_type::element_type>(
                            fmt::format("{}_{}_{}", name, r, c).c_str()));
        };
        fill(control_, "control", rows_, columns_ + 1);
        fill(west_, "west", rows_, columns_ + 1);
        fill(north_, "north", rows_ + 1, columns_);
        fill(sum_, "sum", rows_ + 1, columns_);
    }

    void make_pe(int r, int c) {
        auto pe = std::make_unique<Pe<T>>(fmt::format("pe_{}_{}", r, c).c_str(), schedule_.is_os);
        pe->clk(clk);
        pe->control_in(wire(control_, r, c, columns_ + 1));
        pe->control_out(wire(control_, r, c + 1, columns_ + 1));
        pe->west_in(wire(west_, r, c, columns_ + 1));
        pe->west_out(wire(west_, r, c + 1, columns_ + 1));
        pe->north_in(wire(north_, r, c, columns_));
        pe->north_out(wire(north_, r + 1, c, columns_));
        pe->sum_in(wire(sum_, r, c, columns_));
        pe->sum_out(wire(sum_, r + 1, c, columns_));
        pes_.push_back(std::move(pe));
    }

    /// At the edge that begins cycle `next_`: what enters the array in it.
    void setup() {
        const std::int64_t load = schedule_.timing.load, stream = schedule_.timing.stream;
        cycle_ = next_;
        fold_ = schedule_.newest(next_);
        for (int r = 0; r < rows_; ++r) {
            const std::int64_t time = next_ - r;
            T value{};
            schedule_.at(time, [&](std::int64_t fold, std::int64_t step) {
                if (step >= load && step < load + stream)
                    value = product_.west(product_.fold_at(fold), r, step - load);
            });
            wire(west_, r, 0, columns_ + 1).write(value);
            wire(control_, r, 0, columns_ + 1).write(schedule_.control(time));
        }
        for (int c = 0; c < columns_; ++c) {
            T value{};
            schedule_.at(next_ - c, [&](std::int64_t fold, std::int64_t step) {
                const FoldIndex index = product_.fold_at(fold);
                if (step < load) value = product_.held(index, rows_ - 1 - step, c);
                if (schedule_.is_os && step < stream) value = product_.north(index, c, step);
            });
            wire(north_, 0, c, columns_).write(value);
        }
        ++next_;
    }

    /// Between the edges: what left the array in the cycle that the last edge completed.
    void collect() {
        const std::int64_t cycle = next_ - 2;  // next_ - 1 is under way
        const std::int64_t load = schedule_.timing.load, stream = schedule_.timing.stream;
        for (int c = 0; c < columns_; ++c) {
            const T sum = wire(sum_, rows_, c, columns_).read();
            schedule_.at(cycle - (rows_ - 1) - c, [&](std::int64_t fold, std::int64_t step) {
                const FoldIndex index = product_.fold_at(fold);
                const std::int64_t vector = step - load;
                if (!schedule_.is_os && vector >= 0)
                    product_.accumulate(index, c, vector, sum);
                else if (schedule_.is_os && vector >= stream)
                    product_.store(index, rows_ - 1 - (vector - stream), c, sum);
                else
                    return;
                last_cycle_ = cycle;
                ++results_;
            });
        }
        const std::int64_t of_fold = columns_ * (schedule_.is_os ? rows_ : stream);
        is_done_ = results_ == schedule_.folds * of_fold;
        if (is_done_) sc_core::sc_pause();
    }

    const int rows_, columns_;
    Product<T> product_;
    const Schedule schedule_;
    Signals<Control> control_;
    Signals<T> west_, north_, sum_;
    std::vector<std::unique_ptr<Pe<T>>> pes_;
    std::int64_t next_ = 0;  ///< the cycle that the next edge begins
    std::int64_t last_cycle_ = 0, results_ = 0;
    bool is_done_ = false;
    std::int64_t cycle_ = 0, fold_ = 0;  ///< for the trace: under way, begun last
};

}  // namespace

template <typename T>
ArrayResult<T> run_netlist(const ArrayShape& array, Overlap overlap, const Operands<T>& operands,
                           const NetlistTrace& trace) {
    LOCKSTEP_CHECK(array.rows <= kLargestNetlist && array.columns <= kLargestNetlist,
                   "netlist of {} x {} PEs", array.rows, array.columns);
    engine::use_fresh_systemc_context();
    Netlist<T> netlist("array", array, overlap, operands);
    if (!trace.file.empty()) netlist.write_trace(trace);
    return netlist.run();
}

template <typename T>
WatchedRun<T> watch_netlist(const ArrayShape& array, Overlap overlap, const Operands<T>& operands) {
    LOCKSTEP_CHECK(array.rows <= kLargestNetlist && array.columns <= kLargestNetlist,
                   "netlist of {} x {} PEs", array.rows, array.columns);
    engine::use_fresh_systemc_context();
    Netlist<T> netlist("array", array, overlap, operands);
    return netlist.watch();
}

template WatchedRun<std::int32_t> watch_netlist(const ArrayShape&, Overlap,
                                                const Operands<std::int32_t>&);
template WatchedRun<float> watch_netlist(const ArrayShape&, Overlap, const Operands<float>&);

template ArrayResult<std::int32_t> run_netlist(const ArrayShape&, Overlap,
                                               const Operands<std::int32_t>&, const NetlistTrace&);
template ArrayResult<float> run_netlist(const ArrayShape&, Overlap, const Operands<float>&,
                                        const NetlistTrace&);

}  // namespace lockstep::tpu
