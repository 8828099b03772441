// SPDX-License-Identifier: Apache-2.0
// A product is cut into blocks of rows (what the accumulators hold, twice, so that one half can be
// emptied while the other fills), tiles of columns and passes over k. Weights come from their
// memory through the FIFO where each tile is used once for a block of rows that hides its way
// (generation 1), else from a panel in the unified buffer.
#include "sim/error/error.h"
#include "workloads/network/tpu/product.h"

#include <algorithm>

namespace lockstep::network::lowering {

namespace {

/// From generation 2 on: four times the rows that hide the shift of the next weights.
constexpr int64_t kRowsOfBlock = 512;

}  // namespace

std::vector<ProductLowering::Block> ProductLowering::blocks_of(int64_t limit, int64_t panel_columns,
                                                               bool results_pass) const {
    std::vector<Block> blocks;
    const tpu::DataType type = l_.type_of(node_.inputs[0]);
    const auto size = static_cast<int64_t>(tpu::size_of(type));
    const bool resident = l_.place(node_.inputs[0]).space == tpu::Space::kUnifiedBuffer;
    const auto budget = static_cast<int64_t>(l_.ring_.size() / 8);
    // Results pass through the ring; where they stay in the unified buffer they need no room there.
    int64_t row_bytes = results_pass ? panel_columns * size : 0;
    if (epilogue_.addend != kNoValue) row_bytes += panel_columns * size;
    limit = std::max<int64_t>(1, std::min(limit, budget / std::max<int64_t>(1, row_bytes)));
    if (!conv_) {
        if (!resident) limit = std::max<int64_t>(1, std::min(limit, budget / (k_ * size)));
        for (int64_t first = 0; first < m_; first += limit)
            blocks.push_back({.first = first, .rows = std::min(limit, m_ - first), .source = {}});
        return blocks;
    }
    const int64_t out_height = conv_->out_height(), out_width = conv_->out_width(),
                  pixels = out_height * out_width, images = m_ / pixels;
    const int64_t pad = conv_->window.pad_begin[0];
    if (resident) {
        for (int64_t first = 0; first < m_; first += limit)
            blocks.push_back({.first = first,
                              .rows = std::min(limit, m_ - first),
                              .source = {},
                              .first_row = first,
                              .height = conv_->height,
                              .out_height = out_height,
                              .pad_top = pad});
        return blocks;
    }
    const int64_t image_bytes = conv_->height * conv_->width * conv_->channels * size;
    if (pixels <= limit && image_bytes <= budget) {
        const int64_t together =
            std::max<int64_t>(1, std::min(limit / pixels, budget / image_bytes));
        for (int64_t n = 0; n < images; n += together)
            blocks.push_back({.first = n * pixels,
                              .rows = std::min(together, images - n) * pixels,
                              .source = {},
                              .height = conv_->height,
                              .out_height = out_height,
                              .pad_top = pad});
        return blocks;
    }
    const int64_t lines = std::max<int64_t>(1, limit / out_width);
    for (int64_t n = 0; n < images; ++n)
        for (int64_t y = 0; y < out_height; y += lines) {
            const int64_t count = std::min(lines, out_height - y);
            blocks.push_back({.first = n * pixels + y * out_width,
                              .rows = count * out_width,
                              .source = {},
                              .out_height = count});
        }
    return blocks;
}

void ProductLowering::stage_block(Block& block, const Matrix& source) {
    if (!conv_) {
        block.source = l_.stage(source, block.first, block.rows);
        return;
    }
    if (source.space == tpu::Space::kUnifiedBuffer) {
        block.source = {source.address, 0, source.type};
        return;
    }
    const int64_t pixels = conv_->out_height() * conv_->out_width(), n = block.first / pixels;
    if (block.height != 0) {  // whole images
        block.source = l_.stage(source, n * conv_->height, block.rows / pixels * conv_->height);
        return;
    }
    // Lines of one image: the lines of the input that their windows touch.
    const Window& w = conv_->window;
    const int64_t y = block.first % pixels / conv_->out_width();
    const int64_t top = y * w.stride[0] - w.pad_begin[0];
    const int64_t bottom = (y + block.out_height - 1) * w.stride[0] - w.pad_begin[0] +
                           (w.kernel[0] - 1) * w.dilation[0] + 1;
    const int64_t begin = std::clamp<int64_t>(top, 0, conv_->height - 1);
    const int64_t end = std::clamp<int64_t>(bottom, begin + 1, conv_->height);
    block.pad_top = begin - top;
    block.height = end - begin;
    block.source = l_.stage(source, n * conv_->height + begin, block.height);
}

void ProductLowering::pass(const Block& block, const Job& job, const Weights& weights,
                           uint64_t panel, int64_t k, int64_t lanes) {
    const tpu::CoreLimits& limits = l_.target_.limits;
    const auto size = tpu::size_of(weights.type);
    const int64_t lanes_most = limits.array_rows;
    TpuLayer& layer = l_.layer();
    const ColumnTile& tile = *job.tile;
    const GroupSet& set = sets_[tile.set];
    const bool in_buffer = panel != 0 || weights.space == tpu::Space::kUnifiedBuffer;
    // A panel holds each tile's columns (or, transposed, rows) one after the other.
    uint64_t address = 0;
    int64_t pitch = 0;
    if (in_buffer) {
        pitch = weights.transposed ? set.k : tile.columns;
        address =
            panel - 1 +
            static_cast<uint64_t>(job.element + (weights.transposed ? k : k * tile.columns)) * size;
    } else {
        pitch = weights.pitch != 0 ? weights.pitch : set.columns;
        address =
            weights.address +
            static_cast<uint64_t>(set.weights + (weights.transposed ? tile.first * pitch + k
                                                                    : k * pitch + tile.first)) *
                size;
    }
    l_.emit(Opcode::kReadWeights, {{Field::kUnit, job.unit},
                                   {Field::kFrom, in_buffer ? tpu::WeightSource::kUnifiedBuffer
                                                            : tpu::WeightSource::kMemory},
                                   {Field::kAddress, address},
                                   {Field::kPitch, static_cast<uint64_t>(pitch) * size},
                                   {Field::kLanes, lanes},
                                   {Field::kColumns, tile.columns},
                                   {Field::kTransposed, weights.transposed},
                                   {Field::kWeightType, weights.type}});
    ++layer.weight_tiles;
    layer.lane_use += static_cast<double>(lanes) / static_cast<double>(lanes_most);
    layer.column_use +=
        static_cast<double>(tile.columns) / static_cast<double>(limits.array_columns);
    if (!conv_) {
        l_.emit(Opcode::kMatrixMultiply,
                {{Field::kUnit, job.unit},
                 {Field::kSource, block.source.address +
                                      static_cast<uint64_t>(k) * tpu::size_of(block.source.type)},
                 {Field::kPitch, block.source.pitch},
                 {Field::kRows, block.rows},
                 {Field::kLanes, lanes},
                 {Field::kColumns, tile.columns},
                 {Field::kAccumulator, job.accumulator},
                 {Field::kAccumulate, k != 0},
                 {Field::kSwitchWeights, true},
                 {Field::kType, block.source.type},
                 {Field::kWeightType, weights.type}});
        return;
    }
    const Window& w = conv_->window;
    const auto bytes = tpu::size_of(block.source.type);
    l_.emit(
        Opcode::kConvolve,
        {{Field::kUnit, job.unit},
         {Field::kSource, block.source.address + static_cast<uint64_t>(set.first_channel) * bytes},
         {Field::kPixelPitch, static_cast<uint64_t>(conv_->channels) * bytes},
         {Field::kRows, block.rows},
         {Field::kLanes, lanes},
         {Field::kColumns, tile.columns},
         {Field::kAccumulator, job.accumulator},
         {Field::kAccumulate, k != 0},
         {Field::kSwitchWeights, true},
         {Field::kType, block.source.type},
         {Field::kWeightType, weights.type},
         {Field::kFirstRow, block.first_row},
         {Field::kFirstLane, k},
         {Field::kHeight, block.height},
         {Field::kWidth, conv_->width},
         {Field::kChannels, set.channels},
         {Field::kOutHeight, block.out_height},
         {Field::kOutWidth, conv_->out_width()},
         {Field::kKernelHeight, w.kernel[0]},
         {Field::kKernelWidth, w.kernel[1]},
         {Field::kStrideHeight, w.stride[0]},
         {Field::kStrideWidth, w.stride[1]},
         {Field::kPadTop, block.pad_top},
         {Field::kPadLeft, w.pad_begin[1]},
         {Field::kDilationHeight, w.dilation[0]},
         {Field::kDilationWidth, w.dilation[1]},
         {Field::kPadValue, integer_ ? input_zero_ : 0}});
}

void ProductLowering::finish(const Block& block, const Job& job, uint64_t parameters,
                             const Tile& out, const Tile* addend) {
    const ColumnTile& tile = *job.tile;
    const int64_t words = (epilogue_.has_bias ? 1 : 0) + (epilogue_.scales.empty() ? 0 : 1);
    tpu::Instruction activate(
        Opcode::kActivate,
        {{Field::kAccumulator, job.accumulator},
         {Field::kAccumulatorType, integer_ ? tpu::DataType::kInt32 : tpu::DataType::kFp32},
         {Field::kRows, block.rows},
         {Field::kColumns, tile.columns},
         {Field::kDestination,
          out.address + static_cast<uint64_t>(job.column) * tpu::size_of(out.type)},
         {Field::kPitch, out.pitch},
         {Field::kType, out.type},
         {Field::kFunction, epilogue_.function},
         {Field::kParameters, parameters + static_cast<uint64_t>(job.column * words * 4)},
         {Field::kHasBias, epilogue_.has_bias},
         {Field::kHasScales, !epilogue_.scales.empty()},
         {Field::kScale, epilogue_.scale},
         {Field::kOutScale, 1.0f},
         {Field::kZeroPoint, integer_ ? epilogue_.out.zero : 0}});
    if (addend != nullptr) {
        activate.set(Field::kHasAddend, true);
        activate.set(Field::kAddend, addend->address + static_cast<uint64_t>(job.column) *
                                                           tpu::size_of(addend->type));
        activate.set(Field::kAddendPitch, addend->pitch);
        activate.set(Field::kAddendType, addend->type);
        activate.set(Field::kAddendScale, 1.0f);
    }
    l_.builder_.emit(activate);
}

void ProductLowering::compute(const Block& block, std::span<const ColumnTile> tiles,
                              const Weights& weights, uint64_t panel, uint64_t parameters,
                              const Tile& out, const Tile* addend, size_t first_tile) {
    const tpu::CoreLimits& limits = l_.target_.limits;
    int64_t column = 0, element = 0;  // of the panel
    // The matrix units share the columns; independent products go to them in turn.
    if (l_.layer().products <= 1) l_.next_unit_ = static_cast<uint32_t>(first_tile);
    if (block.rows > int64_t{limits.accumulator_rows})
        throw InputError(fmt::format("a line of {} pixels; there are {} accumulators", block.rows,
                                     limits.accumulator_rows));
    // As many columns at once as there are units, and accumulators for the rows.
    const size_t together = std::clamp<size_t>(
        limits.accumulator_rows / static_cast<size_t>(block.rows), 1, limits.matrix_units);
    for (size_t first = 0; first < tiles.size(); first += together) {
        std::vector<Job> jobs;
        for (const ColumnTile& tile :
             tiles.subspan(first, std::min(together, tiles.size() - first))) {
            if (l_.accumulator_ + static_cast<uint64_t>(block.rows) > limits.accumulator_rows)
                l_.accumulator_ = 0;
            jobs.push_back(
                {&tile, l_.next_unit_++ % limits.matrix_units, l_.accumulator_, column, element});
            l_.accumulator_ += static_cast<uint64_t>(block.rows);
            column += tile.columns;
            element += sets_[tile.set].k * tile.columns;
        }
        // Pass by pass in turn, so that no unit waits behind another's weights.
        for (bool any = true; any;) {
            any = false;
            for (Job& job : jobs) {
                const GroupSet& set = sets_[job.tile->set];
                if (job.k == set.k) continue;
                // Generation 1 makes rows of the window's elements as they stream. Later ones have
                // no such setup: lanes are channels, each tap of the window is a pass of its own.
                const int64_t run =
                    conv_ && l_.has_memory() && sets_.size() == 1 ? set.channels : set.k;
                const int64_t lanes = std::min<int64_t>(limits.array_rows, run - job.k % run);
                pass(block, job, weights, panel, job.k, lanes);
                job.k += lanes;
                any = true;
            }
        }
        for (const Job& job : jobs) finish(block, job, parameters, out, addend);
    }
}

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
