// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/transposed_copy.h"

#include <algorithm>
#include <functional>

#include "workloads/network/tpu/vector.h"

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::Field;
using tpu::Function;

namespace {

/// Elements of a tile's side from which its runs are long enough for memory: a register's lanes.
constexpr std::int64_t kLongRun = 128;

/// All combinations of the indices of loops: what they add to the offsets of both sides.
void for_each(const std::vector<CopyLoop>& loops,
              const std::function<void(std::int64_t, std::int64_t)>& body, std::size_t depth = 0,
              std::int64_t source = 0, std::int64_t destination = 0) {
    if (depth == loops.size()) return body(source, destination);
    for (std::int64_t i = 0; i < loops[depth].extent; ++i)
        for_each(loops, body, depth + 1, source + i * loops[depth].source,
                 destination + i * loops[depth].destination);
}

class TransposedCopy {
  public:
    TransposedCopy(Compilation& c, const Place& from, const Place& to, std::vector<CopyLoop> loops)
        : c_(c), from_(from), to_(to), outer_(std::move(loops)) {
        row_ = outer_.back();
        outer_.pop_back();
        // What lies in one run of the source, from the innermost loop on.
        for (std::int64_t next = 1;; next *= run_.back().extent) {
            const auto found = std::ranges::find_if(
                outer_, [&](const CopyLoop& loop) { return loop.source == next; });
            if (found == outer_.end()) break;
            run_.push_back(*found);
            outer_.erase(found);
        }
    }
    bool is_one() const { return row_.source != 1 && row_.destination == 1 && !run_.empty(); }
    void emit();

  private:
    std::int64_t most() const {
        return static_cast<std::int64_t>(c_.staging.window_room() / 8 / tpu::size_of(from_.type));
    }
    std::int64_t run_length() const {
        std::int64_t length = 1;
        for (const CopyLoop& loop : run_) length *= loop.extent;
        return length;
    }
    Matrix source(std::int64_t offset, std::int64_t rows, std::int64_t columns) const {
        return {from_.space, from_.address + from_.bytes_of(offset), from_.type, rows, columns,
                row_.source};
    }
    void tile(std::int64_t source_offset, std::int64_t destination_offset, std::int64_t rows,
              std::int64_t piece);
    void put(const BufferRows& turned, std::int64_t rows, std::int64_t first,
             std::int64_t destination_offset, const CopyLoop& lines, std::int64_t count);

    Compilation& c_;
    const Place &from_, &to_;
    std::vector<CopyLoop> outer_, run_;  ///< run_: innermost first
    CopyLoop row_;                       ///< of the destination
};

/// `count` rows of the destination, from line `first` of the turned tile on.
void TransposedCopy::put(const BufferRows& turned, std::int64_t rows, std::int64_t first,
                         std::int64_t destination_offset, const CopyLoop& lines,
                         std::int64_t count) {
    const Matrix out{to_.space, to_.address + to_.bytes_of(destination_offset),
                     to_.type,  count,
                     rows,      lines.destination};
    BufferRows part = turned;
    part.address += static_cast<std::uint64_t>(first) * turned.pitch;
    part.pitch = turned.pitch * static_cast<std::uint64_t>(lines.source);
    if (to_.space != tpu::Space::kUnifiedBuffer) return c_.staging.store(part, out, 0, count);
    vector_op(c_, Function::kIdentity, Function::kIdentity, part, nullptr, Broadcast::kNone, 0,
              c_.staging.room_for(out, 0, count), count, rows);
}

/// Rows of the destination's innermost loop by the run, of whose last loop `piece` are taken.
void TransposedCopy::tile(std::int64_t source_offset, std::int64_t destination_offset,
                          std::int64_t rows, std::int64_t piece) {
    const std::int64_t columns = run_length() / run_.back().extent * piece;
    const bool repeats = row_.source == 0;
    const std::int64_t loaded = repeats ? 1 : rows;
    BufferRows in = c_.staging.load(source(source_offset, loaded, columns), 0, loaded);
    if (repeats) in.pitch = 0;
    std::vector<CopyLoop> lines = run_;
    lines.back().extent = piece;
    const bool direct = lines.size() == 1 && to_.space == tpu::Space::kUnifiedBuffer;
    const Matrix out{to_.space, to_.address + to_.bytes_of(destination_offset),
                     to_.type,  columns,
                     rows,      lines[0].destination};
    const BufferRows turned = direct ? c_.staging.room_for(out, 0, columns)
                                     : c_.staging.temporary(columns, rows, to_.type);
    c_.staging.check_held(in);
    c_.builder.emit(tpu::Opcode::kTranspose, {{Field::kA, in.address},
                                              {Field::kAPitch, in.pitch},
                                              {Field::kDestination, turned.address},
                                              {Field::kPitch, turned.pitch},
                                              {Field::kType, to_.type},
                                              {Field::kRows, rows},
                                              {Field::kColumns, columns}});
    if (direct) return;
    // The longest loop of the run are the rows of a transfer, one for each index of the others.
    const auto longest = std::ranges::max_element(lines, {}, &CopyLoop::extent);
    const CopyLoop by_row = *longest;
    lines.erase(longest);
    for_each(lines, [&](std::int64_t first, std::int64_t offset) {
        put(turned, rows, first, destination_offset + offset, by_row, by_row.extent);
    });
}

void TransposedCopy::emit() {
    // Loops of the run that are too long for a tile are left to the outer ones.
    const std::int64_t long_row = std::min(row_.extent, kLongRun);
    while (run_.size() > 1 && run_length() / run_.back().extent * long_row > most()) {
        outer_.push_back(run_.back());
        run_.pop_back();
    }
    const CopyLoop& last = run_.back();
    const std::int64_t inner = run_length() / last.extent,
                       piece =
                           std::clamp<std::int64_t>(most() / (inner * long_row), 1, last.extent),
                       rows = std::clamp<std::int64_t>(most() / (inner * piece), 1, row_.extent);
    for_each(outer_, [&](std::int64_t source_offset, std::int64_t destination_offset) {
        for (std::int64_t row = 0; row < row_.extent; row += rows)
            for (std::int64_t i = 0; i < last.extent; i += piece)
                tile(source_offset + row * row_.source + i * last.source,
                     destination_offset + row + i * last.destination,
                     std::min(rows, row_.extent - row), std::min(piece, last.extent - i));
    });
}

}  // namespace

bool copy_transposed(Compilation& c, const Place& from, const Place& to,
                     std::vector<CopyLoop> loops) {
    if (!c.has_memory() || loops.empty()) return false;
    TransposedCopy turned(c, from, to, std::move(loops));
    if (!turned.is_one()) return false;
    turned.emit();
    return true;
}

}  // namespace lockstep::network::lowering
