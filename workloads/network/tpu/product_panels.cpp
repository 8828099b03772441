// SPDX-License-Identifier: Apache-2.0
// A product is cut into panels of columns, blocks of rows (what the accumulators hold, twice, so
// that one half can be emptied while the other fills), tiles of columns and passes over k.
// Generation 1 streams weights from their memory through the FIFO, each tile once for a block of
// rows that hides its way. Later ones bring both operands to the unified buffer: the smaller stays
// there as a whole while the other passes through, a piece ahead; where neither fits, panels of
// weights or of rows stay in turn and the other operand passes by each of them.
#include <algorithm>

#include "sim/error/error.h"
#include "sim/numerics/integer.h"
#include "workloads/network/tpu/product.h"

namespace lockstep::network::lowering {

using numerics::divide_up;

namespace {

BufferRows from_row(BufferRows tile, std::int64_t row) {
    tile.address += static_cast<std::uint64_t>(row) * tile.pitch;
    return tile;
}

}  // namespace

Matrix columns_of(Matrix m, std::int64_t first, std::int64_t columns) {
    m.address += static_cast<std::uint64_t>(first) * tpu::size_of(m.type);
    m.columns = columns;
    return m;
}

ProductLowering::Operands ProductLowering::operands_of(const std::vector<Matrix>& source,
                                                       const Weights& weights, const Place& result,
                                                       const std::optional<Place>& addend) {
    const auto rows = [&](const Place& place) {
        const std::optional<Matrix> found = rows_of(node_, place);
        LOCKSTEP_CHECK(found.has_value(), "{}: its result does not lie row by row", node_.name);
        return *found;
    };
    Operands o{.left = source[0],
               .out = rows(result),
               .addend = {},
               .weights = weights,
               .tiles = {},
               .rows = m_};
    if (addend) o.addend = rows(*addend);
    // A left operand in several pieces is brought together first.
    if (source.size() != 1) {
        c_.steps.end_prefetch();
        Place whole;
        whole.space = c_.places.backing();
        whole.type = o.left.type;
        whole.shape = {m_, k_};
        whole.strides = dense_strides(whole.shape);
        whole.address = c_.builder.address(c_.places.add_buffer(node_.name + ".rows", whole.space,
                                                                tpu::Role::kScratch, whole.type,
                                                                whole.bytes_of(m_ * k_)));
        std::int64_t row = 0;
        for (const Matrix& piece : source) {
            const BufferRows tile = c_.staging.load(piece, 0, piece.rows);
            c_.staging.store(tile, {whole.space, whole.address, whole.type, m_, k_, k_}, row,
                             piece.rows);
            row += piece.rows;
        }
        o.left = {whole.space, whole.address, whole.type, m_, k_, k_};
    }
    // "Activations for one network layer must complete before the matrix multiplications of the
    // next layer can begin" (Jouppi et al., ISCA 2017, section 2: the delay slot).
    if (!c_.has_memory() && o.left.space == tpu::Space::kUnifiedBuffer)
        input_ = {o.left.space, false, o.left.address, o.left.row_address(o.left.rows)};
    const std::int64_t step = c_.target.limits.array_columns;
    for (std::size_t set = 0; set < sets_.size(); ++set)
        for (std::int64_t first = 0; first < sets_[set].columns; first += step)
            o.tiles.push_back({set, first, std::min(step, sets_[set].columns - first)});
    return o;
}

std::uint64_t ProductLowering::weight_bytes(const Operands& o, std::size_t tile) const {
    return static_cast<std::uint64_t>(sets_[o.tiles[tile].set].k * o.tiles[tile].columns) *
           tpu::size_of(o.weights.type);
}

void ProductLowering::stage_panel(const Operands& o, std::size_t begin, std::size_t end,
                                  std::uint64_t address, const std::optional<Elements>& part) {
    const Weights& w = o.weights;
    for (std::size_t t = begin; t < end; ++t) {
        const GroupSet& set = sets_[o.tiles[t].set];
        const std::int64_t pitch = w.pitch != 0 ? w.pitch : set.columns;
        const auto [k, rows] = part.value_or(Elements{0, set.k});
        const std::int64_t first = o.tiles[t].first;
        Matrix from{w.space, 0, w.type, rows, o.tiles[t].columns, pitch};
        if (w.transposed) std::swap(from.rows, from.columns);
        const std::int64_t element =
            set.weights + (w.transposed ? first * pitch + k : k * pitch + first);
        from.address = w.address + static_cast<std::uint64_t>(element) * tpu::size_of(w.type);
        c_.staging.load_at(address, from, 0, from.rows);
        address += static_cast<std::uint64_t>(rows * o.tiles[t].columns) * tpu::size_of(w.type);
    }
}

std::uint64_t ProductLowering::parameter_bytes(std::int64_t columns) const {
    return static_cast<std::uint64_t>(epilogue_.parameter_words()) * 4 *
           static_cast<std::uint64_t>(columns);
}

void ProductLowering::stage_parameters(std::uint64_t address, std::int64_t first,
                                       std::int64_t columns) {
    const auto words = static_cast<std::int64_t>(parameter_bytes(columns) / 4);
    if (words == 0) return;
    c_.staging.load_at(address,
                       {c_.places.backing(), parameters_ + parameter_bytes(first),
                        tpu::DataType::kFp32, 1, words, words},
                       0, 1);
}

std::vector<ProductLowering::Panel> ProductLowering::panels_of(const Operands& o,
                                                               std::uint64_t most_bytes,
                                                               std::uint64_t most_columns,
                                                               bool staged) const {
    std::vector<Panel> panels;
    std::int64_t first = 0;
    for (std::size_t begin = 0; begin < o.tiles.size(); begin = panels.back().end) {
        Panel panel{begin, begin, first, 0, 0, {}};
        const auto fits = [&](std::size_t t) {
            return panel.bytes + (staged ? weight_bytes(o, t) : 0) <= most_bytes &&
                   static_cast<std::uint64_t>(panel.columns + o.tiles[t].columns) <= most_columns;
        };
        const auto take = [&](std::size_t end) {
            for (; panel.end < end; ++panel.end) {
                panel.columns += o.tiles[panel.end].columns;
                panel.bytes += staged ? weight_bytes(o, panel.end) : 0;
            }
        };
        take(begin + 1);
        while (panel.end < o.tiles.size() && fits(panel.end)) take(panel.end + 1);
        // As many tiles as keep all units busy.
        const std::size_t units = c_.target.limits.matrix_units, over = (panel.end - begin) % units;
        if (panel.end < o.tiles.size() && panel.end - begin > units && over != 0) {
            const std::size_t end = panel.end - over;
            panel = {begin, begin, first, 0, 0, {}};
            take(end);
        }
        first += panel.columns;
        panels.push_back(panel);
    }
    return panels;
}

bool ProductLowering::is_one_of_many(const Operands& o, std::uint64_t bytes) const {
    constexpr std::uint64_t kTogether = 16;
    return c_.has_memory() && c_.steps.layer().products > 1 &&
           bytes + o.left.bytes() + (o.addend ? 2 : 1) * o.out.bytes() <=
               c_.staging.ring().size() / kTogether;
}

std::uint64_t ProductLowering::pin(const Operands& o, std::uint64_t bytes) {
    compile::Ring& ring = c_.staging.ring();
    return is_one_of_many(o, bytes) ? ring.pin_next(bytes) : ring.pin(bytes);
}

bool ProductLowering::may_prefetch(const std::vector<Panel>& panels) const {
    // XLA copies operands ahead as a whole (memory_space_assignment); what passes by its kernel's
    // windows begins with the kernel.
    return c_.target.window == 0 || panels.size() == 1;
}

std::vector<ProductLowering::Panel> ProductLowering::weight_panels(
    const Operands& o, std::optional<std::uint64_t> most) const {
    const bool results_pass = o.out.space != tpu::Space::kUnifiedBuffer;
    return panels_of(o, most.value_or(UINT64_MAX),
                     results_pass ? c_.staging.ring().size() / 128 : UINT64_MAX, most.has_value());
}

void ProductLowering::run_columns(const Operands& o, std::int64_t limit,
                                  const PassingPanels& passing) {
    // The rows as a whole; panels of columns pass by.
    const bool is_resident = o.left.space == tpu::Space::kUnifiedBuffer;
    const bool staged = o.weights.space != tpu::Space::kUnifiedBuffer;
    std::vector<Panel> panels = panels_of(
        o, passing.bytes,
        passing.bytes / (static_cast<std::uint64_t>(o.rows) * tpu::size_of(o.out.type)), staged);
    const std::size_t places_of_panels = std::min(passing.ahead + 1, panels.size());
    std::uint64_t most = 0;
    for (const Panel& panel : panels) most = std::max(most, compile::aligned(panel.bytes));
    const std::uint64_t parameters =
        pin(o, compile::aligned(parameter_bytes(n_)) + places_of_panels * most +
                   (is_resident ? 0 : o.left.bytes()) + 256);
    const std::uint64_t places = parameters + compile::aligned(parameter_bytes(n_));
    const auto stage_weights = [&](std::size_t p) {
        if (!staged || p >= panels.size()) return;
        panels[p].address = places + p % places_of_panels * most;
        stage_panel(o, panels[p].begin, panels[p].end, *panels[p].address);
    };
    stage_parameters(parameters, 0, n_);
    if (!may_prefetch(panels)) c_.steps.end_prefetch();
    stage_weights(0);
    c_.steps.end_prefetch();
    Matrix left = o.left;
    if (!is_resident) {
        left.space = tpu::Space::kUnifiedBuffer;
        left.address = places + places_of_panels * most;
        left.pitch = left.columns;
        c_.staging.load_at(left.address, o.left, 0, left.rows);
    }
    for (std::size_t p = 1; p < passing.ahead; ++p) stage_weights(p);
    for (std::size_t p = 0; p < panels.size(); ++p) {
        stage_weights(p + passing.ahead);
        const Panel& panel = panels[p];
        const Matrix out = columns_of(o.out, panel.first, panel.columns);
        // Where a panel of results is large, it leaves block by block.
        const bool whole =
            static_cast<std::uint64_t>(o.rows * panel.columns) * tpu::size_of(out.type) <=
            c_.staging.window_room() / 8;
        std::optional<Matrix> addend;
        if (o.addend) addend = columns_of(*o.addend, panel.first, panel.columns);
        std::vector<Block> blocks = blocks_of(
            o.rows, block_limit(panel, limit),
            static_cast<std::int64_t>(c_.staging.window_room() / 8), panel.columns, !whole, true);
        BufferRows to, residual;
        std::int64_t first_row = 0, rows = 0;
        for (Block& block : blocks) {
            stage_block(block, left);
            if (!whole || block.first == 0) {
                first_row = block.first;
                rows = whole ? o.rows : block.rows;
                to = c_.staging.room_for(out, first_row, rows);
                if (addend) residual = c_.staging.load(*addend, first_row, rows);
            }
            const BufferRows part = from_row(residual, block.first - first_row);
            compute(block, std::span(o.tiles).subspan(panel.begin, panel.end - panel.begin),
                    o.weights, panel.address, parameters + parameter_bytes(panel.first),
                    from_row(to, block.first - first_row), addend ? &part : nullptr, panel.begin);
            if (block.first + block.rows == first_row + rows)
                c_.staging.store(to, out, first_row, rows);
            ++c_.steps.layer().row_blocks;
        }
    }
}

std::int64_t ProductLowering::block_limit(const Panel& panel, std::int64_t limit) const {
    if (!c_.has_memory() || epilogue_.pool) return limit;
    const std::size_t units = c_.target.limits.matrix_units,
                      tiles = std::min(units, std::max<std::size_t>(1, panel.end - panel.begin));
    return limit * static_cast<std::int64_t>(units / tiles);
}

std::int64_t ProductLowering::window_bytes(const Operands& o) const {
    // An eighth of the rows, so that little is loaded before and stored after all products; what is
    // small is not cut. As large as two of them fit with two of results (and residuals).
    constexpr std::uint64_t kWindows = 8, kLeast = 256 << 10;
    const std::uint64_t fits =
        std::min(c_.staging.ring().room(), c_.staging.window_room()) / (o.addend ? 7 : 5) - 4096;
    const std::uint64_t all = std::max(o.left.bytes(), o.out.bytes()) *
                              static_cast<std::uint64_t>(c_.steps.layer().products);
    return static_cast<std::int64_t>(std::min(fits, std::max(all / kWindows, kLeast)));
}

std::vector<Block> ProductLowering::row_blocks(const Operands& o, const Panel& panel,
                                               std::int64_t limit) const {
    // Generation 1 streams a block at a time; later ones load windows of many blocks.
    const bool is_resident = o.left.space == tpu::Space::kUnifiedBuffer;
    const bool windows = c_.has_memory() && !is_resident;
    auto budget =
        windows ? window_bytes(o) : static_cast<std::int64_t>(c_.staging.ring().size() / 8);
    // Rows for all units, that hide the shift of the panel's next weights, as far as there is room
    // (as run_columns() has them where all rows stay).
    if (windows && !conv_ && panel.bytes != 0) {
        const auto rows = c_.target.limits.array_rows * block_limit(panel, 1);
        budget = std::max(budget,
                          std::min(rows * k_ * static_cast<std::int64_t>(tpu::size_of(o.left.type)),
                                   static_cast<std::int64_t>(c_.staging.ring().room() / 7)));
    }
    // Weights that come tile by tile come again for each block: one of all rows, if there is room.
    if (windows && conv_ && panel.bytes == 0 && !o.addend &&
        o.left.bytes() + columns_of(o.out, panel.first, panel.columns).bytes() + 4096 <=
            c_.staging.ring().room())
        budget = static_cast<std::int64_t>(std::max(o.left.bytes(), o.out.bytes()));
    return blocks_of(o.rows, windows ? o.rows : block_limit(panel, limit), budget, panel.columns,
                     o.out.space != tpu::Space::kUnifiedBuffer, is_resident);
}

void ProductLowering::begin_window(const Operands& o, const Block& block) {
    const std::int64_t bytes =
        static_cast<std::int64_t>(std::max(o.left.bytes(), o.out.bytes())) * block.rows / m_;
    // Half of it fits: else products just over half a window would have one each.
    const bool joins = c_.steps.layer().products > 1 && !conv_ && bytes / 2 <= window_left_;
    window_left_ = (joins ? window_left_ : window_bytes(o)) - bytes;
    begins_window_ = joins ? 0 : c_.target.limits.matrix_units;
    if (!joins) c_.builder.release_all();
}

void ProductLowering::run_rows(const Operands& o, std::int64_t limit,
                               std::optional<std::uint64_t> most_weights) {
    // Panels of weights as a whole, the next ahead; blocks of rows pass by each.
    std::vector<Panel> panels = weight_panels(o, most_weights);
    std::uint64_t most = 0;
    for (const Panel& panel : panels)
        most = std::max(
            most, compile::aligned(parameter_bytes(panel.columns)) + compile::aligned(panel.bytes));
    const std::size_t places = std::min<std::size_t>(panels.size(), 2);
    const std::uint64_t running = taken_ != nullptr ? taken_->running_bytes(part_) : 0,
                        statistics = made_ != nullptr ? made_->statistics_bytes(part_) : 0,
                        pinned = places * most + running + statistics;
    const std::uint64_t base = pinned == 0 ? 0 : pin(o, pinned);
    taken_at_ = base + places * most;
    made_at_ = taken_at_ + running;
    const auto stage_weights = [&](std::size_t p) {
        Panel& panel = panels[p];
        const std::uint64_t parameters = base + p % places * most;
        stage_parameters(parameters, panel.first, panel.columns);
        if (!most_weights) return;
        panel.address = parameters + compile::aligned(parameter_bytes(panel.columns));
        stage_panel(o, panel.begin, panel.end, *panel.address);
    };
    const bool windows = c_.has_memory() && o.left.space != tpu::Space::kUnifiedBuffer;
    if (!may_prefetch(panels)) c_.steps.end_prefetch();
    stage_weights(0);
    c_.steps.end_prefetch();
    if (made_ != nullptr) made_->load_statistics(part_, made_at_);
    for (std::size_t p = 0; p < panels.size(); ++p) {
        const Panel& panel = panels[p];
        std::vector<Block> blocks = row_blocks(o, panel, limit);
        stage_block(blocks[0], o.left);
        const Matrix out = columns_of(o.out, panel.first, panel.columns);
        std::optional<Matrix> addend;
        if (o.addend) addend = columns_of(*o.addend, panel.first, panel.columns);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const Block& block = blocks[i];
            if (i + 1 < blocks.size()) stage_block(blocks[i + 1], o.left);
            if (i == 0 && p + 1 < panels.size()) stage_weights(p + 1);
            const std::int64_t to_first = epilogue_.pool ? block.result_first : block.first,
                               to_rows = epilogue_.pool ? block.result_rows : block.rows;
            const BufferRows to = c_.staging.room_for(out, to_first, to_rows);
            if (windows) begin_window(o, block);
            BufferRows residual;
            if (addend) residual = c_.staging.load(*addend, block.first, block.rows);
            // Of equal parts, so that none is short.
            const std::int64_t parts = divide_up(block.rows, block_limit(panel, limit)),
                               step = windows ? divide_up(block.rows, parts) : block.rows;
            for (std::int64_t row = 0; row < block.rows; row += step) {
                Block part = block;
                part.rows = std::min(step, block.rows - row);
                if (conv_)
                    part.first_row += row;
                else
                    part.source = from_row(part.source, row);
                const BufferRows part_addend = from_row(residual, row);
                compute(part, std::span(o.tiles).subspan(panel.begin, panel.end - panel.begin),
                        o.weights, panel.address, base + p % places * most, from_row(to, row),
                        addend ? &part_addend : nullptr, panel.begin);
                ++c_.steps.layer().row_blocks;
            }
            if (taken_ != nullptr)
                taken_->take_maxima(to, block.first, block.rows, panel.first, panel.columns,
                                    taken_at_);
            if (holds_results_) c_.builder.hold(part_);
            c_.staging.store(to, out, to_first, to_rows);
            c_.builder.stop_holding();
        }
    }
    // The rows of as many products as there are units are made before the first's results leave.
    const std::size_t units = c_.target.limits.matrix_units;
    if (holds_results_) c_.builder.release_before(part_ < units ? 0 : part_ - units + 1);
    if (taken_ != nullptr) taken_->store_maxima(part_, taken_at_);
}

}  // namespace lockstep::network::lowering
