// SPDX-License-Identifier: Apache-2.0
// Work on the vector unit: instructions, and loops of them over the rows of values.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "sim/numerics/requantise.h"
#include "workloads/network/tpu/compilation.h"

namespace lockstep::network::lowering {

/// Elements of 16 bits in tiles of 8 x 128 fill half a register: they take as long as twice as many
/// registers of so many lanes.
constexpr std::int64_t kHalfLanes = 64;

/// out = then(function(a, b or immediate)), of a and b spread by `broadcast`; scales of a, b, out.
void vector_op(Compilation& c, tpu::Function function, tpu::Function then, const BufferRows& a,
               const BufferRows* b, tpu::Broadcast broadcast, float immediate,
               const BufferRows& out, std::int64_t rows, std::int64_t columns,
               std::array<Scaling, 3> scaling = {},
               const numerics::FixedPointPair* fixed = nullptr);

/// Each row to one element, or each column.
void reduce(Compilation& c, tpu::Reduction reduction, const BufferRows& a, const BufferRows& out,
            std::int64_t rows, std::int64_t columns, tpu::Axis axis = tpu::Axis::kColumns);

/// How many of `rows` of an operand of `bytes` pass through the unified buffer at once: a sixteenth
/// of them, so that little is loaded before and stored after all computing, but a DMA request at
/// least, and no more than two windows fit with `temporaries` bytes for each row.
std::int64_t window_rows(const Compilation& c, std::uint64_t bytes, std::int64_t rows,
                         std::uint64_t temporaries);

/// Whether the DMA takes longer to begin with so many bytes than to move them.
bool is_small_for_dma(const Compilation& c, std::uint64_t bytes);
/// How many of `count` matrices of so many bytes, which follow each other in memory, pass in one
/// window: more than one where they are small for the DMA.
std::int64_t matrices_together(const Compilation& c, std::uint64_t bytes, std::int64_t count);

/// `body(rows of x, rows of y, first row, rows)` over pieces of the rows of x, which are those of
/// y. `temporaries`: bytes for each row beside them. `columns` of a row, where it must be the last
/// dimension of the graph and not of memory.
void by_rows(Compilation& c, const Place& x, const Place& y, std::uint64_t temporaries,
             const std::function<void(const BufferRows&, const BufferRows&, std::int64_t,
                                      std::int64_t)>& body,
             std::int64_t columns = 0);

/// to = then(function(a, second or immediate)), both spread to the shape of `to`.
void elementwise(Compilation& c, tpu::Function function, tpu::Function then, const Place& to,
                 const Place& a, const std::optional<Place>& second, std::optional<float> immediate,
                 const std::array<Scaling, 3>& scaling,
                 const numerics::FixedPointPair* fixed = nullptr);

/// Columns of a matrix that is joined along its rows, and passes by pieces of so many: all where
/// windows have rows enough for the vector unit's registers.
std::int64_t window_columns(const Compilation& c, const Matrix& m);

}  // namespace lockstep::network::lowering
