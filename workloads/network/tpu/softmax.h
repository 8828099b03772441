// SPDX-License-Identifier: Apache-2.0
// Softmax in kernels, as XLA makes it on TPUs: the maxima (x is read), the sums of powers (x is
// read), the results (x is read, y written); powers are computed again rather than kept. Where a
// product makes x, the maxima are taken on its way out; where a product alone reads y, the results
// are made on the way in and never stored.
#pragma once

#include <string>
#include <vector>

#include "workloads/network/tpu/loop.h"

namespace lockstep::network::lowering {

class Softmax {
  public:
    /// A matrix of more rows becomes several parts: a part's statistics stay in the unified buffer
    /// while it passes.
    static constexpr std::int64_t kMostRows = 1 << 15;

    /// `x`: matrices. `axis`: the one that is normalised along; kColumns: each row by itself.
    Softmax(Compilation& c, const std::string& name, std::vector<Matrix> x, tpu::Axis axis);

    std::size_t parts() const { return parts_.size(); }
    /// Bytes of the unified buffer for the running maxima of a part ...
    std::uint64_t running_bytes(std::size_t part) const;
    /// ... and for all its statistics.
    std::uint64_t statistics_bytes(std::size_t part) const { return 2 * running_bytes(part); }
    /// Joins the maxima of a block of the part, which begins at that row and column, to the running
    /// ones at `running`.
    void take_maxima(const BufferRows& block, std::int64_t first_row, std::int64_t rows,
                     std::int64_t first_column, std::int64_t columns, std::uint64_t running);
    void store_maxima(std::size_t part, std::uint64_t running);
    /// The first two kernels. Nothing else may be pinned in the ring.
    void maxima_kernel();
    void sums_kernel();
    /// The part's statistics to the unified buffer.
    void load_statistics(std::size_t part, std::uint64_t statistics);
    /// Whole rows of the part to results, which may take their place.
    void apply(std::size_t part, std::uint64_t statistics, const BufferRows& x,
               std::int64_t first_row, std::int64_t rows, const BufferRows& out);
    /// The third kernel; `out`: all rows of all parts, one after the other, where these are not
    /// pieces of columns, which follow each other.
    void results_kernel(const Matrix& out);

  private:
    struct Part {
        Matrix x, maxima, factors;  ///< factors: one by the sums
    };

    bool by_rows() const { return axis_ == tpu::Axis::kColumns; }
    /// How statistics are spread over a block.
    tpu::Broadcast spread() const {
        return by_rows() ? tpu::Broadcast::kColumn : tpu::Broadcast::kRow;
    }
    /// The statistics that belong to a block, of those at `running` or of its own `count` rows.
    BufferRows running_of(std::uint64_t running, std::int64_t row, std::int64_t column,
                          std::int64_t columns) const;
    Loop powers(const BufferRows& maxima, const BufferRows& x, std::int64_t rows,
                std::int64_t columns);
    /// Places of `bytes` that parts take in turn, two or as many as a small part of the ring has.
    struct Places {
        std::uint64_t begin, bytes;
        std::size_t count;
        std::uint64_t of(std::size_t part) const { return begin + part % count * bytes; }
    };
    Places pin_for_parts(std::uint64_t (Softmax::*bytes)(std::size_t) const);
    /// Parts from `first` on that pass as one window: small ones that follow each other, whose
    /// columns are normalised. Each has a row of statistics.
    struct Group {
        std::size_t count;
        Matrix x, maxima, factors;  ///< of all

        std::int64_t rows() const { return x.rows / static_cast<std::int64_t>(count); }
    };
    /// Nothing where a part passes by itself.
    std::optional<Group> group_from(std::size_t first) const;
    void maxima_of(const Group& group);
    void sums_of(const Group& group);
    void results_of(const Group& group, const Matrix& out, std::int64_t out_row);

    Compilation& c_;
    const tpu::Axis axis_;
    std::vector<Part> parts_;
};

}  // namespace lockstep::network::lowering
