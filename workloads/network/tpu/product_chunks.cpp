// SPDX-License-Identifier: Apache-2.0
// A product neither of whose operands fits the unified buffer: the accumulators keep a part of the
// result, rows by tiles of columns, while chunks of k of both operands pass by, one ahead. An array
// that holds sums keeps that part itself. Weights stay from the first rows on while the others
// pass: those of an array's tiles where it holds sums, or all where the accumulators have all
// columns.
#include <algorithm>

#include "sim/numerics/integer.h"
#include "workloads/network/tpu/product.h"

namespace lockstep::network::lowering {

using numerics::divide_up;

std::vector<ProductLowering::ChunkShape> ProductLowering::chunk_shapes(const Operands& o) const {
    const tpu::CoreLimits& limits = c_.target.limits;
    const std::int64_t accumulators = limits.accumulator_rows, lanes = limits.array_rows;
    ChunkShape shape;
    // Results and residuals of four tiles of columns take a quarter of the ring, two chunks a half.
    const auto rows_of_results =
        static_cast<std::int64_t>(c_.staging.window_room()) / 32 /
        (limits.array_columns * static_cast<std::int64_t>(tpu::size_of(o.out.type)));
    shape.rows = std::min(m_, std::clamp<std::int64_t>(accumulators / 4, 1,
                                                       std::max<std::int64_t>(1, rows_of_results)));
    // Of equal parts, so that none is short; of tiles as many as keep all units busy.
    shape.rows = divide_up(m_, divide_up(m_, shape.rows));
    shape.tiles = std::clamp<std::int64_t>(accumulators / shape.rows, 1,
                                           static_cast<std::int64_t>(o.tiles.size()));
    if (shape.tiles > limits.matrix_units &&
        shape.tiles < static_cast<std::int64_t>(o.tiles.size()))
        shape.tiles -= shape.tiles % limits.matrix_units;
    if (limits.dataflow == tpu::Dataflow::kOutputStationary) {
        // The arrays keep the sums: a piece of the result each.
        shape.tiles = std::min<std::int64_t>(shape.tiles, limits.matrix_units);
        shape.rows = std::min(shape.rows, lanes * (limits.matrix_units / shape.tiles));
    } else if (limits.dataflow == tpu::Dataflow::kInputStationary) {
        // Whole pieces, whose sums have a row of accumulators a column.
        const std::int64_t piece = limits.array_columns;
        if (shape.rows > piece) shape.rows = shape.rows / piece * piece;
        shape.tiles =
            std::clamp<std::int64_t>(accumulators / (divide_up(shape.rows, piece) * piece), 1,
                                     static_cast<std::int64_t>(o.tiles.size()));
    }
    const std::int64_t row_bytes = static_cast<std::int64_t>(tpu::size_of(o.left.type));
    const auto weight_row = [&] {
        return shape.tiles * limits.array_columns *
               static_cast<std::int64_t>(tpu::size_of(o.weights.type));
    };
    const auto budget = static_cast<std::int64_t>(c_.staging.window_room() / 4);
    // Weights that stay have half of the ring, and rows pass in what they leave.
    const auto stays = [&] {
        ChunkShape staying = shape;
        staying.weights_stay = true;
        staying.k =
            std::min(divide_up(k_, lanes), budget / 2 / (shape.rows * row_bytes) / lanes) * lanes;
        return staying;
    };
    const bool may_stay =
        o.weights.space != tpu::Space::kUnifiedBuffer &&
        static_cast<std::uint64_t>(weight_row() * k_) <= c_.staging.ring().size() / 2 &&
        lanes * shape.rows * row_bytes <= budget / 2;
    if (limits.dataflow == tpu::Dataflow::kOutputStationary && may_stay) return {stays()};
    std::vector<ChunkShape> shapes;
    if (limits.dataflow == tpu::Dataflow::kWeightStationary && may_stay && shape.rows < m_ &&
        shape.tiles == static_cast<std::int64_t>(o.tiles.size()))
        shapes.push_back(stays());
    const auto bytes_of_k = [&] { return shape.rows * row_bytes + weight_row(); };
    while (shape.tiles > 1 && lanes * bytes_of_k() > budget) --shape.tiles;
    shape.k = std::min(divide_up(k_, lanes), budget / bytes_of_k() / lanes) * lanes;
    if (shape.k != 0) shapes.push_back(shape);
    return shapes;
}

std::vector<ProductLowering::Job> ProductLowering::jobs_of_chunk(const Operands& o,
                                                                 std::int64_t first,
                                                                 std::int64_t tiles,
                                                                 std::int64_t rows) const {
    const tpu::CoreLimits& limits = c_.target.limits;
    const bool holds_inputs = limits.dataflow == tpu::Dataflow::kInputStationary;
    const std::int64_t piece = rows_held(rows), pieces = divide_up(rows, piece);
    std::vector<Job> jobs;
    std::int64_t column = 0;
    for (std::int64_t t = 0; t < tiles; ++t) {
        const ColumnTile& tile = o.tiles[static_cast<std::size_t>(first + t)];
        for (std::int64_t p = 0; p < pieces; ++p) {
            const std::int64_t accumulator =
                holds_inputs ? (p * tiles + t) * limits.array_columns : t * rows + p * piece;
            jobs.push_back({.tile = &tile,
                            .unit = static_cast<std::uint32_t>(holds_inputs ? p : t * pieces + p) %
                                    limits.matrix_units,
                            .accumulator = static_cast<std::uint64_t>(accumulator),
                            .column = column,
                            .element = 0,
                            .first = p * piece,
                            .rows = std::min(piece, rows - p * piece)});
        }
        column += tile.columns;
    }
    return jobs;
}

std::vector<ProductLowering::Chunk> ProductLowering::chunk_list(const Operands& o,
                                                                const ChunkShape& shape) const {
    const auto tiles = static_cast<std::int64_t>(o.tiles.size());
    std::vector<Chunk> chunks;
    const auto add_chunks = [&](std::int64_t row, std::int64_t tile) {
        for (std::int64_t k = 0; k < k_; k += shape.k)
            chunks.push_back({row,
                              std::min(shape.rows, m_ - row),
                              tile,
                              std::min(shape.tiles, tiles - tile),
                              k,
                              std::min(shape.k, k_ - k),
                              {}});
    };
    if (shape.weights_stay)
        for (std::int64_t tile = 0; tile < tiles; tile += shape.tiles)
            for (std::int64_t row = 0; row < m_; row += shape.rows) add_chunks(row, tile);
    else
        for (std::int64_t row = 0; row < m_; row += shape.rows)
            for (std::int64_t tile = 0; tile < tiles; tile += shape.tiles) add_chunks(row, tile);
    return chunks;
}

void ProductLowering::pass_chunk(const Operands& o, const Chunk& chunk, std::vector<Job>& jobs) {
    const tpu::CoreLimits& limits = c_.target.limits;
    const Block block{.first = chunk.row, .rows = chunk.rows, .source = chunk.source};
    const std::size_t pieces = jobs.size() / static_cast<std::size_t>(chunk.tiles);
    std::int64_t element = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        Job& job = jobs[j];
        job.source_begin = job.k_begin = chunk.k;
        job.k_count = chunk.count;
        job.element = element;
        if (j % pieces + 1 == pieces) element += job.k_count * job.tile->columns;
    }
    // Pieces that the units hold inputs of at a time meet all tiles before they are exchanged.
    const bool holds_inputs = limits.dataflow == tpu::Dataflow::kInputStationary;
    const std::size_t together = holds_inputs ? limits.matrix_units : pieces;
    for (std::int64_t k = chunk.k; k < chunk.k + chunk.count; k += limits.array_rows)
        for (std::size_t begin = 0; begin < pieces; begin += together)
            for (std::size_t t = 0; t < static_cast<std::size_t>(chunk.tiles); ++t)
                for (std::size_t p = begin; p < std::min(pieces, begin + together); ++p)
                    pass(block, jobs[t * pieces + p], o.weights, chunk.panel, k,
                         std::min<std::int64_t>(limits.array_rows, chunk.k + chunk.count - k),
                         holds_inputs && t == 0);
}

void ProductLowering::finish_chunk(const Operands& o, const Chunk& chunk,
                                   const std::vector<Job>& jobs, std::uint64_t parameters) {
    const tpu::CoreLimits& limits = c_.target.limits;
    const bool holds_inputs = limits.dataflow == tpu::Dataflow::kInputStationary;
    const std::size_t pieces = jobs.size() / static_cast<std::size_t>(chunk.tiles);
    for (std::size_t t = 0; t < jobs.size(); t += pieces) {
        const std::int64_t columns = jobs[t].tile->columns,
                           first = chunk.tile * limits.array_columns + jobs[t].column;
        const Matrix out = columns_of(o.out, first, columns);
        const BufferRows to = c_.staging.room_for(out, chunk.row, chunk.rows);
        std::optional<BufferRows> residual;
        if (o.addend)
            residual =
                c_.staging.load(columns_of(*o.addend, first, columns), chunk.row, chunk.rows);
        for (std::size_t p = 0; p < (holds_inputs ? pieces : 1); ++p) {
            Job done = jobs[t + p];
            done.column = 0;
            if (!holds_inputs) done.rows = chunk.rows;  // of all pieces
            finish(done, parameters + parameter_bytes(first), to, residual ? &*residual : nullptr);
        }
        c_.staging.store(to, out, chunk.row, chunk.rows);
    }
}

void ProductLowering::run_chunks(const Operands& o, const ChunkShape& shape) {
    const tpu::CoreLimits& limits = c_.target.limits;
    const bool staged = o.weights.space != tpu::Space::kUnifiedBuffer;
    std::vector<Chunk> chunks = chunk_list(o, shape);
    const std::uint64_t parameter_room = (parameter_bytes(n_) + 511) / 256 * 256;
    const std::uint64_t panel_room =
        static_cast<std::uint64_t>(shape.tiles * limits.array_columns * k_) *
        tpu::size_of(o.weights.type);
    const std::uint64_t parameters =
        c_.staging.ring().pin(parameter_room + (shape.weights_stay ? panel_room : 0));
    stage_parameters(parameters, 0, n_);
    const auto stage_weights = [&](Chunk& chunk) {
        if (!staged) return;
        std::uint64_t bytes_of_k = 0;
        for (std::int64_t t = chunk.tile; t < chunk.tile + chunk.tiles; ++t)
            bytes_of_k +=
                weight_bytes(o, static_cast<std::size_t>(t)) / static_cast<std::uint64_t>(k_);
        if (shape.weights_stay) {
            // What the first rows bring is there for the others.
            chunk.panel =
                parameters + parameter_room + bytes_of_k * static_cast<std::uint64_t>(chunk.k);
            if (chunk.row != 0) return;
        } else {
            chunk.panel =
                c_.staging.ring().allocate(bytes_of_k * static_cast<std::uint64_t>(chunk.count));
            chunk.serial = c_.staging.ring().serial();
        }
        stage_panel(o, static_cast<std::size_t>(chunk.tile),
                    static_cast<std::size_t>(chunk.tile + chunk.tiles), *chunk.panel,
                    Elements{chunk.k, chunk.count});
    };
    const auto stage_rows = [&](Chunk& chunk) {
        chunk.source =
            c_.staging.load(columns_of(o.left, chunk.k, chunk.count), chunk.row, chunk.rows);
    };
    // Weights that stay have one place an element of k: the passes of those before come first.
    const auto takes_place = [&](std::size_t i) {
        return shape.weights_stay && i != 0 && chunks[i].k == chunks[i - 1].k;
    };
    stage_weights(chunks[0]);
    c_.steps.end_prefetch();
    stage_rows(chunks[0]);
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        if (i + 1 < chunks.size()) {
            if (!takes_place(i + 1)) stage_weights(chunks[i + 1]);
            stage_rows(chunks[i + 1]);
        }
        if (takes_place(i)) stage_weights(chunks[i]);
        const Chunk& chunk = chunks[i];
        c_.staging.check_held(chunk.source);
        c_.staging.check_held({.serial = chunk.serial});
        if (chunk.k == 0) jobs = jobs_of_chunk(o, chunk.tile, chunk.tiles, chunk.rows);
        pass_chunk(o, chunk, jobs);
        if (chunk.k + chunk.count < k_) continue;
        finish_chunk(o, chunk, jobs, parameters);
        ++c_.steps.layer().row_blocks;
    }
}

}  // namespace lockstep::network::lowering
