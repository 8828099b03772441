// SPDX-License-Identifier: Apache-2.0
// A product neither of whose operands fits the unified buffer: the accumulators keep a part of the
// result, rows by tiles of columns, while chunks of k of both operands pass by, one ahead.
#include "workloads/network/tpu/product.h"

#include <algorithm>

namespace lockstep::network::lowering {

namespace {

int64_t divide_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace

ProductLowering::ChunkShape ProductLowering::chunks_of(const Operands& o) const {
    const tpu::CoreLimits& limits = l_.target_.limits;
    const int64_t accumulators = limits.accumulator_rows, lanes = limits.array_rows;
    ChunkShape shape;
    // Results and residuals of four tiles of columns take a quarter of the ring, two chunks a half.
    const auto rows_of_results =
        static_cast<int64_t>(l_.ring_.size()) / 32 /
        (limits.array_columns * static_cast<int64_t>(tpu::size_of(o.out.type)));
    shape.rows = std::min(
        m_, std::clamp<int64_t>(accumulators / 4, 1, std::max<int64_t>(1, rows_of_results)));
    shape.tiles =
        std::clamp<int64_t>(accumulators / shape.rows, 1, static_cast<int64_t>(o.tiles.size()));
    const auto budget = static_cast<int64_t>(l_.ring_.size() / 4);
    const auto bytes_of_k = [&] {
        return shape.rows * static_cast<int64_t>(tpu::size_of(o.left.type)) +
               shape.tiles * limits.array_columns *
                   static_cast<int64_t>(tpu::size_of(o.weights.type));
    };
    while (shape.tiles > 1 && lanes * bytes_of_k() > budget) --shape.tiles;
    shape.k = std::min(divide_up(k_, lanes), budget / bytes_of_k() / lanes) * lanes;
    return shape;
}

bool ProductLowering::prefers_chunks(const Operands& o, uint64_t all_weights) const {
    const auto panels = static_cast<int64_t>(all_weights / (l_.ring_.size() / 4) + 1);
    if (conv_ || panels == 1) return false;
    // The accumulators' part of the result is more than an array holds sums or inputs of.
    if (l_.target_.limits.dataflow != tpu::Dataflow::kWeightStationary) return false;
    const ChunkShape shape = chunks_of(o);
    if (shape.k == 0) return false;
    const auto weights = static_cast<int64_t>(all_weights),
               rows = m_ * k_ * static_cast<int64_t>(tpu::size_of(o.left.type));
    const int64_t by_chunks = weights * divide_up(m_, shape.rows) +
                              rows * divide_up(static_cast<int64_t>(o.tiles.size()), shape.tiles);
    return by_chunks < rows * panels + weights;
}

void ProductLowering::run_chunks(const Operands& o) {
    const tpu::CoreLimits& limits = l_.target_.limits;
    const ChunkShape shape = chunks_of(o);
    const auto tiles = static_cast<int64_t>(o.tiles.size());
    const bool staged = o.weights.space != tpu::Space::kUnifiedBuffer;
    struct Chunk {
        int64_t row, rows, tile, tiles, k, count;
        Tile source;
        uint64_t panel = 0, serial = 0;
    };
    std::vector<Chunk> chunks;
    for (int64_t row = 0; row < m_; row += shape.rows)
        for (int64_t tile = 0; tile < tiles; tile += shape.tiles)
            for (int64_t k = 0; k < k_; k += shape.k)
                chunks.push_back({row,
                                  std::min(shape.rows, m_ - row),
                                  tile,
                                  std::min(shape.tiles, tiles - tile),
                                  k,
                                  std::min(shape.k, k_ - k),
                                  {}});
    const uint64_t parameters = l_.ring_.pin(parameter_bytes(n_) + 256);
    stage_parameters(parameters, 0, n_);
    const auto stage_weights = [&](Chunk& chunk) {
        if (!staged) return;
        uint64_t bytes = 0;
        for (int64_t t = chunk.tile; t < chunk.tile + chunk.tiles; ++t)
            bytes += weight_bytes(o, static_cast<size_t>(t)) / static_cast<uint64_t>(k_) *
                     static_cast<uint64_t>(chunk.count);
        const uint64_t address = l_.ring_.allocate(bytes);
        chunk.panel = address + 1;
        chunk.serial = l_.ring_.serial();
        stage_panel(o, static_cast<size_t>(chunk.tile),
                    static_cast<size_t>(chunk.tile + chunk.tiles), address, chunk.k, chunk.count);
    };
    const auto stage_rows = [&](Chunk& chunk) {
        chunk.source = l_.stage(columns_of(o.left, chunk.k, chunk.count), chunk.row, chunk.rows);
    };
    stage_weights(chunks[0]);
    l_.end_prefetch();
    stage_rows(chunks[0]);
    std::vector<Job> jobs;
    for (size_t i = 0; i < chunks.size(); ++i) {
        if (i + 1 < chunks.size()) {
            stage_weights(chunks[i + 1]);
            stage_rows(chunks[i + 1]);
        }
        const Chunk& chunk = chunks[i];
        l_.check_held(chunk.source);
        l_.check_held({.serial = chunk.serial});
        const Block block{.first = chunk.row, .rows = chunk.rows, .source = chunk.source};
        if (chunk.k == 0) {
            jobs.clear();
            int64_t column = 0;
            for (int64_t t = 0; t < chunk.tiles; ++t) {
                const ColumnTile& tile = o.tiles[static_cast<size_t>(chunk.tile + t)];
                jobs.push_back({.tile = &tile,
                                .unit = static_cast<uint32_t>(t) % limits.matrix_units,
                                .accumulator = static_cast<uint64_t>(t * chunk.rows),
                                .column = column,
                                .element = 0,
                                .first = 0,
                                .rows = chunk.rows});
                column += tile.columns;
            }
        }
        int64_t element = 0;
        for (Job& job : jobs) {
            job.k_begin = chunk.k;
            job.k_count = chunk.count;
            job.element = element;
            element += chunk.count * job.tile->columns;
        }
        for (int64_t k = chunk.k; k < chunk.k + chunk.count; k += limits.array_rows)
            for (const Job& job : jobs)
                pass(block, job, o.weights, chunk.panel, k,
                     std::min<int64_t>(limits.array_rows, chunk.k + chunk.count - k));
        if (chunk.k + chunk.count < k_) continue;
        for (Job job : jobs) {
            const int64_t first = chunk.tile * limits.array_columns + job.column;
            const Matrix out = columns_of(o.out, first, job.tile->columns);
            const Tile to = l_.stage_result(out, chunk.row, chunk.rows);
            std::optional<Tile> residual;
            if (o.addend)
                residual = l_.stage(columns_of(*o.addend, first, job.tile->columns), chunk.row,
                                    chunk.rows);
            job.column = 0;
            finish(job, parameters + parameter_bytes(first), to, residual ? &*residual : nullptr);
            l_.unstage(to, out, chunk.row, chunk.rows);
        }
        ++l_.layer().row_blocks;
    }
}

}  // namespace lockstep::network::lowering
