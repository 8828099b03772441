// SPDX-License-Identifier: Apache-2.0
// Rows of a product go through the array in blocks: of a convolution whole images, or lines of one
// with the lines of the input that their windows touch; of a matrix any number of rows. What does
// not lie in the unified buffer already is staged there.
#include <algorithm>

#include "sim/error/error.h"
#include "sim/numerics/integer.h"
#include "workloads/network/tpu/product.h"

namespace lockstep::network::lowering {

namespace {

/// The size of equal parts of at most `limit`, so that none is short.
std::int64_t equal_parts(std::int64_t count, std::int64_t limit) {
    return numerics::divide_up(count, numerics::divide_up(count, limit));
}

}  // namespace

std::vector<Block> ProductLowering::blocks_of(std::int64_t rows, std::int64_t limit,
                                              std::int64_t budget, std::int64_t panel_columns,
                                              bool results_pass, bool is_resident) const {
    std::vector<Block> blocks;
    const tpu::DataType type = c_.places.of(node_.inputs[0]).type;
    const auto size = static_cast<std::int64_t>(tpu::size_of(type));
    // Results pass through the ring; where they stay in the unified buffer they need no room there.
    std::int64_t row_bytes = results_pass ? panel_columns * size : 0;
    if (epilogue_.addend != kNoValue &&
        c_.places.of(epilogue_.addend).space != tpu::Space::kUnifiedBuffer)
        row_bytes += panel_columns * size;
    limit =
        std::max<std::int64_t>(1, std::min(limit, budget / std::max<std::int64_t>(1, row_bytes)));
    if (!conv_) {
        if (!is_resident) limit = std::max<std::int64_t>(1, std::min(limit, budget / (k_ * size)));
        limit = equal_parts(rows, limit);
        for (std::int64_t first = 0; first < rows; first += limit)
            blocks.push_back({.first = first, .rows = std::min(limit, rows - first), .source = {}});
        return blocks;
    }
    if (epilogue_.pool) return pooled_blocks(limit, is_resident);
    const std::int64_t out_height = conv_->out_height(), out_width = conv_->out_width(),
                       pixels = out_height * out_width, images = rows / pixels;
    const std::int64_t pad = conv_->window.pad_begin[0];
    if (is_resident) {
        limit = equal_parts(rows, limit);
        for (std::int64_t first = 0; first < rows; first += limit)
            blocks.push_back({.first = first,
                              .rows = std::min(limit, rows - first),
                              .source = {},
                              .first_row = first,
                              .height = conv_->height,
                              .out_height = out_height,
                              .pad_top = pad});
        return blocks;
    }
    const std::int64_t image_bytes = conv_->height * conv_->width * conv_->channels * size;
    if (pixels <= limit && image_bytes <= budget) {
        const std::int64_t together =
            std::max<std::int64_t>(1, std::min(limit / pixels, budget / image_bytes));
        for (std::int64_t n = 0; n < images; n += together)
            blocks.push_back({.first = n * pixels,
                              .rows = std::min(together, images - n) * pixels,
                              .source = {},
                              .height = conv_->height,
                              .out_height = out_height,
                              .pad_top = pad});
        return blocks;
    }
    const SlidingWindow& w = conv_->window;
    const std::int64_t line_bytes = conv_->width * conv_->channels * size,
                       halo = (w.kernel[0] - 1) * w.dilation[0] + 1 - w.stride[0];
    const std::int64_t lines = std::max<std::int64_t>(
        1, std::min(limit / out_width, (budget / line_bytes - halo) / w.stride[0]));
    for (std::int64_t n = 0; n < images; ++n)
        for (std::int64_t y = 0, count = 0; y < out_height; y += count) {
            count = std::min(lines, out_height - y);
            // Lines whose windows lie below the image come with the last that touches it.
            if ((y + count) * w.stride[0] - w.pad_begin[0] >= conv_->height) count = out_height - y;
            blocks.push_back({.first = n * pixels + y * out_width,
                              .rows = count * out_width,
                              .source = {},
                              .out_height = count});
        }
    return blocks;
}

void ProductLowering::stage_block(Block& block, const Matrix& source) {
    if (!conv_) {
        block.source = c_.staging.load(source, block.first, block.rows);
        if (made_ != nullptr) {
            // In its place, where it is not kept.
            BufferRows rows = block.source;
            if (source.space == tpu::Space::kUnifiedBuffer)
                rows = c_.staging.temporary(block.rows, source.columns, source.type);
            made_->apply(part_, made_at_, block.source, block.first, block.rows, rows);
            block.source = rows;
        }
        return;
    }
    if (source.space == tpu::Space::kUnifiedBuffer) {
        block.source = {source.address, 0, source.type};
        return;
    }
    const std::int64_t pixels = conv_->out_height() * conv_->out_width(), n = block.first / pixels;
    if (block.height != 0) {  // whole images
        block.source =
            c_.staging.load(source, n * conv_->height, block.rows / pixels * conv_->height);
        return;
    }
    // Lines of one image: the lines of the input that their windows touch.
    const SlidingWindow& w = conv_->window;
    const std::int64_t y = block.first % pixels / conv_->out_width();
    const std::int64_t top = y * w.stride[0] - w.pad_begin[0];
    const std::int64_t bottom = (y + block.out_height - 1) * w.stride[0] - w.pad_begin[0] +
                                (w.kernel[0] - 1) * w.dilation[0] + 1;
    const std::int64_t begin = std::clamp<std::int64_t>(top, 0, conv_->height - 1);
    const std::int64_t end = std::clamp<std::int64_t>(bottom, begin + 1, conv_->height);
    block.pad_top = begin - top;
    block.height = end - begin;
    block.source = c_.staging.load(source, n * conv_->height + begin, block.height);
}

}  // namespace lockstep::network::lowering
