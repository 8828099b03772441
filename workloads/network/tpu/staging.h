// SPDX-License-Identifier: Apache-2.0
// Rows that pass through the unified buffer on their way to and from memory, or host memory.
#pragma once

#include "isa/tpu/builder.h"
#include "workloads/network/compile/buffer.h"
#include "workloads/network/tpu/place.h"

namespace lockstep::network::lowering {

/// Rows in the unified buffer, `pitch` bytes apart.
struct BufferRows {
    std::uint64_t address = 0;
    std::uint64_t pitch = 0;
    tpu::DataType type = tpu::DataType::kInt8;
    std::uint64_t serial = 0;  ///< of their range in the ring; 0: elsewhere
    bool half_tiles = false;   ///< as the value's (place.h)
};

/// Those from `row` on.
inline BufferRows row_of(BufferRows rows, std::int64_t row) {
    rows.address += static_cast<std::uint64_t>(row) * rows.pitch;
    return rows;
}

class Staging {
  public:
    /// The ring has the buffer from `begin` on.
    Staging(tpu::ProgramBuilder& builder, std::uint64_t begin, std::uint64_t bytes)
        : builder_(builder), begin_(begin), ring_("the unified buffer", begin, bytes) {}

    /// Rows of a matrix, loaded where they are not in the buffer already.
    BufferRows load(const Matrix& matrix, std::int64_t first_row, std::int64_t rows);
    void load_at(std::uint64_t address, const Matrix& matrix, std::int64_t first_row,
                 std::int64_t rows);
    /// Where rows of a result are to be written, before store() takes them where they belong.
    BufferRows room_for(const Matrix& matrix, std::int64_t first_row, std::int64_t rows);
    void store(const BufferRows& from, const Matrix& matrix, std::int64_t first_row,
               std::int64_t rows);
    BufferRows temporary(std::int64_t rows, std::int64_t columns, tpu::DataType type);
    /// Refusal where something has been placed over them: the buffer is too small for what has to
    /// be there at once.
    void check_held(const BufferRows& rows) const;

    /// From here on the ring has what values that stay do not use, `top` bytes; until close()
    /// nothing may be placed.
    void open(std::uint64_t top) { ring_.set_begin(top); }
    void close() {
        ring_.release();
        ring_.set_begin(begin_);
    }
    compile::Ring& ring() { return ring_; }
    const compile::Ring& ring() const { return ring_; }
    /// What the sizes of windows are shares of. They were found with 16 MiB; where there is more,
    /// larger ones would only overlap less.
    std::uint64_t window_room() const { return std::min<std::uint64_t>(ring_.size(), 16 << 20); }

  private:
    BufferRows in_ring(std::uint64_t bytes, std::uint64_t pitch, tpu::DataType type);

    tpu::ProgramBuilder& builder_;
    const std::uint64_t begin_;
    compile::Ring ring_;
};

}  // namespace lockstep::network::lowering
