// SPDX-License-Identifier: Apache-2.0
// A product is cut into panels of columns, blocks of rows (what the accumulators hold, twice, so
// that one half can be emptied while the other fills), tiles of columns and passes over k. Weights
// come from their memory through the FIFO where each tile is used once for a block of rows that
// hides its way (generation 1), else from a panel in the unified buffer.
#include "sim/error/error.h"
#include "workloads/network/tpu/product.h"

#include <algorithm>

namespace lockstep::network::lowering {

namespace {

/// From generation 2 on: four times the rows that hide the shift of the next weights.
constexpr int64_t kRowsOfBlock = 512;

}  // namespace

void ProductLowering::run_product(const std::vector<Matrix>& source, const Weights& weights,
                                  const Place& result) {
    const tpu::CoreLimits& limits = l_.target_.limits;
    TpuLayer& layer = l_.layer();
    layer.m = m_;
    layer.n = n_;
    layer.k = k_;
    layer.products = std::max<int64_t>(1, layer.products);
    // Rows of the result: all but the last dimension.
    const auto rows_of = [&](const Place& place) {
        std::optional<Place> p =
            conv_ ? reshaped(in_memory_order(place), {m_, n_}) : std::optional<Place>(place);
        if (!conv_ && element_count(place.shape) == m_ * n_)
            if (auto two = reshaped(place, {m_, n_})) p = two;
        const auto list = p ? matrices_of(*p) : std::nullopt;
        if (!list || list->size() != 1) throw InputError("its result does not lie row by row");
        return (*list)[0];
    };
    const Matrix out = rows_of(result);
    std::optional<Matrix> addend;
    if (epilogue_.addend != kNoValue) addend = rows_of(l_.place(epilogue_.addend));
    // A left operand in several pieces is brought together first.
    Matrix left = source[0];
    if (source.size() != 1) {
        Place whole;
        whole.space = l_.backing();
        whole.type = left.type;
        whole.shape = {m_, k_};
        whole.strides = dense_strides(whole.shape);
        whole.address = l_.builder_.address(l_.add_buffer(node_.name + ".rows", whole.space,
                                                          tpu::Role::kScratch, whole.type,
                                                          whole.bytes_of(m_ * k_)));
        int64_t row = 0;
        for (const Matrix& piece : source) {
            const Tile tile = l_.stage(piece, 0, piece.rows);
            l_.unstage(tile, {whole.space, whole.address, whole.type, m_, k_, k_}, row, piece.rows);
            row += piece.rows;
        }
        left = {whole.space, whole.address, whole.type, m_, k_, k_};
    }

    // Tiles of columns, and panels of them whose weights fit the unified buffer.
    std::vector<ColumnTile> tiles;
    for (size_t set = 0; set < sets_.size(); ++set)
        for (int64_t first = 0; first < sets_[set].columns; first += limits.array_columns)
            tiles.push_back(
                {set, first, std::min<int64_t>(limits.array_columns, sets_[set].columns - first)});
    int64_t limit = l_.target_.limits.accumulator_rows / 2;
    if (l_.has_memory()) {
        // Blocks are short enough to be loaded while others are computed, long enough to hide the
        // shift of weights.
        limit = std::min<int64_t>(limit / limits.matrix_units, kRowsOfBlock);
    }
    const uint64_t size = tpu::size_of(weights.type);
    const bool panels = l_.has_memory() && (weights.space == tpu::Space::kUnifiedBuffer ||
                                            m_ > limit || weights.transposed);
    const uint64_t panel_budget = l_.ring_.size() / 3;
    const uint64_t words = (epilogue_.has_bias ? 1 : 0) + (epilogue_.scales.empty() ? 0 : 1);
    size_t done = 0;
    int64_t columns_done = 0;
    while (done < tiles.size()) {
        size_t end = done;
        uint64_t bytes = 0;
        int64_t columns = 0;
        const uint64_t out_budget = l_.ring_.size() / 16;
        while (end < tiles.size()) {
            const uint64_t more =
                panels ? static_cast<uint64_t>(sets_[tiles[end].set].k * tiles[end].columns) * size
                       : 0;
            const auto wide = static_cast<uint64_t>(columns + tiles[end].columns) * 8;
            if (end != done && (bytes + more > panel_budget ||
                                (out.space != tpu::Space::kUnifiedBuffer && wide > out_budget)))
                break;
            bytes += more;
            columns += tiles[end].columns;
            ++end;
        }
        const uint64_t parameter_bytes = words * 4 * static_cast<uint64_t>(columns);
        uint64_t parameters = 0, panel = 0;
        if (bytes + parameter_bytes != 0) {
            parameters = l_.ring_.pin(bytes + (parameter_bytes + 255) / 256 * 256);
            panel = parameters + (parameter_bytes + 255) / 256 * 256;
        }
        if (parameter_bytes != 0)
            l_.stage_at(
                parameters,
                {l_.backing(), parameters_ + words * 4 * static_cast<uint64_t>(columns_done),
                 tpu::DataType::kFp32, 1, static_cast<int64_t>(parameter_bytes / 4),
                 static_cast<int64_t>(parameter_bytes / 4)},
                0, 1);
        std::vector<Block> blocks =
            blocks_of(limit, columns, out.space != tpu::Space::kUnifiedBuffer);
        // The panel comes as a whole, then the first rows.
        uint64_t at = panel;
        const auto stage_weights = [&](size_t t) {
            if (!panels) return;
            const GroupSet& set = sets_[tiles[t].set];
            const int64_t pitch = weights.pitch != 0 ? weights.pitch : set.columns;
            Matrix from{weights.space, 0, weights.type, set.k, tiles[t].columns, pitch};
            if (weights.transposed) std::swap(from.rows, from.columns);
            from.address =
                weights.address +
                static_cast<uint64_t>(
                    set.weights + (weights.transposed ? tiles[t].first * pitch : tiles[t].first)) *
                    size;
            l_.stage_at(at, from, 0, from.rows);
            at += static_cast<uint64_t>(from.rows * from.columns) * size;
        };
        for (size_t t = done; t < end; ++t) stage_weights(t);
        stage_block(blocks[0], left);
        Matrix out_panel = out;
        out_panel.address += static_cast<uint64_t>(columns_done) * tpu::size_of(out.type);
        out_panel.columns = columns;
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (i + 1 < blocks.size()) stage_block(blocks[i + 1], left);
            const Tile to = l_.stage_result(out_panel, blocks[i].first, blocks[i].rows);
            std::optional<Tile> residual;
            if (addend) {
                Matrix part = *addend;
                part.address += static_cast<uint64_t>(columns_done) * tpu::size_of(part.type);
                part.columns = columns;
                residual = l_.stage(part, blocks[i].first, blocks[i].rows);
            }
            // 1 more than the address: 0 says that there is no panel.
            compute(blocks[i], std::span(tiles).subspan(done, end - done), weights,
                    panels ? panel + 1 : 0, parameters, to, residual ? &*residual : nullptr, done);
            l_.unstage(to, out_panel, blocks[i].first, blocks[i].rows);
            ++layer.row_blocks;
        }
        done = end;
        columns_done += columns;
    }
    l_.ring_.release();
}

}  // namespace lockstep::network::lowering
