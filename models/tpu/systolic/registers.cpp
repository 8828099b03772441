// SPDX-License-Identifier: Apache-2.0
// Every register of every PE, updated once a cycle, in place: a row reads the row above it, so rows
// go from the bottom up. Of a row, the PEs that are at a certain step of a fold lie side by side,
// because step s reaches PE (r, c) at cycle begin + s + r + c; so a row's work is a few ranges.
// Nothing is counted by formula: the run ends when the last result has left.
#include "models/tpu/systolic/registers.h"

#include <algorithm>

#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

/// Columns [begin, end) of a row.
struct Range {
    std::int64_t begin, end;
};

struct ActiveFold {
    FoldIndex index;
    std::int64_t begin;  ///< cycle of its step 0 at PE (0, 0)
};

template <typename T>
class Registers {
  public:
    Registers(const ArrayShape& array, Overlap overlap, const Operands<T>& operands)
        : rows_(array.rows),
          columns_(array.columns),
          product_(array, operands),
          timing_(tile_timing(array, overlap, product_.folding().stream)) {
        const auto size = static_cast<std::size_t>(rows_ * columns_);
        for (std::vector<T>* registers : {&west_, &held_, &spare_, &down_, &sum_})
            registers->assign(size, T{});
        edge_.assign(static_cast<std::size_t>(columns_), T{});
        zeros_.assign(static_cast<std::size_t>(columns_), T{});
    }

    ArrayResult<T> run() {
        std::int64_t cycle = 0;
        for (; results_ < expected_results(); ++cycle) {
            admit_folds(cycle);
            for (std::int64_t row = rows_ - 1; row >= 0; --row) update_row(cycle, row);
            collect(cycle);
            std::erase_if(active_, [&](const ActiveFold& fold) {
                return cycle + 1 >= fold.begin + timing_.latency();
            });
        }
        return {product_.take(), cycle};
    }

  private:
    std::int64_t expected_results() const {
        const std::int64_t per_column = product_.is_output_stationary() ? rows_ : timing_.stream;
        return product_.folding().folds() * per_column * columns_;
    }

    void admit_folds(std::int64_t cycle) {
        if (admitted_ == product_.folding().folds()) return;
        if (cycle < admitted_ * timing_.interval) return;
        active_.push_back({product_.fold_at(admitted_), cycle});
        ++admitted_;
    }

    /// The columns of `row` that are at steps [first, last) of the fold in this cycle.
    Range at_steps(const ActiveFold& fold, std::int64_t cycle, std::int64_t row, std::int64_t first,
                   std::int64_t last) const {
        const std::int64_t step = cycle - fold.begin - row;  // of column 0
        return {std::clamp<std::int64_t>(step - last + 1, 0, columns_),
                std::clamp<std::int64_t>(step - first + 1, 0, columns_)};
    }

    T* at(std::vector<T>& registers, std::int64_t row) { return &registers[row * columns_]; }
    /// The registers of the row above; row 0 is below the edge.
    const T* above(std::vector<T>& registers, std::int64_t row, const std::vector<T>& edge) {
        return row == 0 ? edge.data() : &registers[(row - 1) * columns_];
    }

    void update_row(std::int64_t cycle, std::int64_t row) {
        T* const west = at(west_, row);
        std::copy_backward(west, west + columns_ - 1, west + columns_);
        west[0] = T{};
        for (const ActiveFold& fold : active_) {
            const std::int64_t step = cycle - fold.begin - row - timing_.load;
            if (step >= 0 && step < timing_.stream) west[0] = product_.west(fold.index, row, step);
        }
        for (const ActiveFold& fold : active_)
            if (product_.is_output_stationary())
                output_stationary(fold, cycle, row);
            else
                weight_stationary(fold, cycle, row);
    }

    void weight_stationary(const ActiveFold& fold, std::int64_t cycle, std::int64_t row) {
        T* const held = at(held_, row);
        T* const spare = at(spare_, row);
        // The first vector brings the new tile into effect; then the spare register is free.
        const Range swap = at_steps(fold, cycle, row, rows_, rows_ + 1);
        for (std::int64_t c = swap.begin; c < swap.end; ++c) held[c] = spare[c];

        const Range load = at_steps(fold, cycle, row, 0, rows_);
        if (load.begin < load.end) {
            T* const down = at(down_, row);
            if (row == 0)
                for (std::int64_t c = load.begin; c < load.end; ++c)
                    edge_[c] = product_.held(fold.index, rows_ - 1 - (cycle - fold.begin - c), c);
            const T* const from = above(down_, row, edge_);
            for (std::int64_t c = load.begin; c < load.end; ++c) {
                down[c] = spare[c];
                spare[c] = from[c];
            }
        }
        const Range stream = at_steps(fold, cycle, row, rows_, rows_ + timing_.stream);
        multiply(at(sum_, row), above(sum_, row, zeros_), at(west_, row), held, stream);
    }

    void output_stationary(const ActiveFold& fold, std::int64_t cycle, std::int64_t row) {
        const std::int64_t stream = timing_.stream;
        T* const held = at(held_, row);    // the sum that is being made
        T* const spare = at(spare_, row);  // results on their way down
        T* const down = at(down_, row);    // b on its way down
        const Range unload = at_steps(fold, cycle, row, stream, stream + rows_);
        T* const sum = at(sum_, row);
        const T* const from = above(sum_, row, zeros_);
        for (std::int64_t c = unload.begin; c < unload.end; ++c) {
            sum[c] = spare[c];
            spare[c] = from[c];
        }
        const Range first = at_steps(fold, cycle, row, 0, 1);
        for (std::int64_t c = first.begin; c < first.end; ++c) held[c] = T{};
        const Range work = at_steps(fold, cycle, row, 0, stream);
        if (work.begin < work.end) {
            if (row == 0)
                for (std::int64_t c = work.begin; c < work.end; ++c)
                    edge_[c] = product_.north(fold.index, c, cycle - fold.begin - c);
            const T* const b = above(down_, row, edge_);
            std::copy(b + work.begin, b + work.end, down + work.begin);
            multiply(held, held, at(west_, row), down, work);
        }
        const Range last = at_steps(fold, cycle, row, stream - 1, stream);
        for (std::int64_t c = last.begin; c < last.end; ++c) spare[c] = held[c];
    }

    static void multiply(T* out, const T* in, const T* a, const T* b, Range range) {
        for (std::int64_t c = range.begin; c < range.end; ++c)
            out[c] = multiply_add(in[c], a[c], b[c]);
    }

    void collect(std::int64_t cycle) {
        const std::int64_t row = rows_ - 1;
        const T* const sum = at(sum_, row);
        for (const ActiveFold& fold : active_) {
            const std::int64_t column_0 = cycle - fold.begin - row;  // the step of column 0
            if (product_.is_output_stationary()) {
                const Range left =
                    at_steps(fold, cycle, row, timing_.stream, timing_.stream + rows_);
                for (std::int64_t c = left.begin; c < left.end; ++c)
                    product_.store(fold.index, rows_ - 1 - (column_0 - c - timing_.stream), c,
                                   sum[c]);
                results_ += left.end - left.begin;
            } else {
                const Range left = at_steps(fold, cycle, row, rows_, rows_ + timing_.stream);
                for (std::int64_t c = left.begin; c < left.end; ++c)
                    product_.accumulate(fold.index, c, column_0 - c - rows_, sum[c]);
                results_ += left.end - left.begin;
            }
        }
    }

    const std::int64_t rows_, columns_;
    Product<T> product_;
    const TileTiming timing_;
    // Of each PE: what moves east; what it holds (os: its sum); the spare of that; what moves down
    // (the tile being loaded; os: b); the sum that moves down (os: results on their way out).
    std::vector<T> west_, held_, spare_, down_, sum_;
    std::vector<T> edge_, zeros_;  ///< what enters from the north
    std::vector<ActiveFold> active_;
    std::int64_t admitted_ = 0, results_ = 0;
};

}  // namespace

template <typename T>
ArrayResult<T> run_registers(const ArrayShape& array, Overlap overlap,
                             const Operands<T>& operands) {
    return Registers<T>(array, overlap, operands).run();
}

template ArrayResult<std::int32_t> run_registers(const ArrayShape&, Overlap,
                                                 const Operands<std::int32_t>&);
template ArrayResult<float> run_registers(const ArrayShape&, Overlap, const Operands<float>&);

}  // namespace lockstep::tpu
