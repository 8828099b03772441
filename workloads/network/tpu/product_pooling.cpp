// SPDX-License-Identifier: Apache-2.0
// Maxima of a convolution's result on the way out of the accumulators. The pipeline of generation 1
// pools rows as they pass (Jouppi et al., ISCA 2017, section 2; US patent 10192162): an `activate`
// takes lines of an image and stores the pooled lines that these are enough for. Where a block of
// rows begins, windows reach back into the one before: those lines go through the array again,
// where that costs less than an instruction of its own for the pooling. Later generations keep the
// result in memory and pool it in a kernel of its own, as compilers for them do.
#include <algorithm>

#include "workloads/network/tpu/product.h"

namespace lockstep::network::lowering {

namespace {

/// First line of the image that the window of a pooled line needs, and the one after its last.
struct Lines {
    std::int64_t begin, end;
};

Lines lines_for(const SlidingWindow& pool, std::int64_t first, std::int64_t end,
                std::int64_t height) {
    return {std::max<std::int64_t>(0, first * pool.stride[0] - pool.pad_begin[0]),
            std::min(height, (end - 1) * pool.stride[0] - pool.pad_begin[0] + pool.kernel[0])};
}

}  // namespace

std::vector<Block> pool_blocks(const SlidingWindow& w, const Shape& shape, std::int64_t limit,
                               std::int64_t images) {
    const std::int64_t count = shape[0], height = shape[2], width = shape[3],
                       out_height = w.output[0], out_width = w.output[1];
    const bool any = images == kAnyLines;
    const bool whole = !any && std::min(images, limit / (height * width)) > 0;
    std::vector<Block> blocks;
    std::int64_t n = 0, pooled = 0;  // the image and its line that come next
    while (n < count) {
        const std::int64_t origin = n * height + lines_for(w, pooled, pooled + 1, height).begin;
        const std::int64_t most = whole ? std::min(count, n + images) : any ? count : n + 1;
        Block block;
        block.first = origin * width;
        block.result_first = (n * out_height + pooled) * out_width;
        while (n < most) {
            // As many of its lines as there is room for, at least one in all.
            const auto fits = [&](std::int64_t end) {
                return (n * height + end - origin) * width <= limit;
            };
            std::int64_t end = pooled;
            while (end < out_height && fits(lines_for(w, pooled, end + 1, height).end)) ++end;
            if (whole && end != out_height) break;
            if (end == pooled && block.pieces.empty()) ++end;
            if (end == pooled) break;
            Lines lines = lines_for(w, pooled, end, height);
            const bool all = pooled == 0 && end == out_height && fits(height);
            if (all) lines = {0, height};
            PoolPiece piece{(n * height + lines.begin - origin) * width,
                            (lines.end - lines.begin) * width,
                            lines.end - lines.begin,
                            pooled,
                            end - pooled,
                            block.result_rows};
            block.rows = piece.row + piece.rows;
            block.result_rows += piece.lines * out_width;
            if (all && !block.pieces.empty() && block.pieces.back().first_line == 0 &&
                block.pieces.back().lines == out_height && block.pieces.back().height == height)
                block.pieces.back().rows += piece.rows;
            else
                block.pieces.push_back(piece);
            pooled = end;
            if (end != out_height) break;
            pooled = 0;
            ++n;
        }
        blocks.push_back(std::move(block));
    }
    return blocks;
}

std::vector<Block> ProductLowering::pooled_blocks(std::int64_t limit, bool is_resident) const {
    const std::int64_t height = conv_->out_height(), width = conv_->out_width(),
                       images = m_ / (height * width);
    // Images that are not resident pass through the ring.
    const std::int64_t image_bytes =
        conv_->height * conv_->width * conv_->channels *
        static_cast<std::int64_t>(tpu::size_of(c_.type_of(node_.inputs[0])));
    std::vector<Block> blocks = pool_blocks(
        *epilogue_.pool, {images, n_, height, width}, limit,
        is_resident ? kAnyLines
                    : static_cast<std::int64_t>(c_.staging.ring().size() / 8) / image_bytes);
    for (Block& block : blocks) {
        const bool whole = block.rows % (height * width) == 0;
        if (is_resident || whole) {
            block.first_row = is_resident ? block.first : 0;
            block.height = conv_->height;
            block.out_height = height;
            block.pad_top = conv_->window.pad_begin[0];
        } else {
            block.out_height = block.rows / width;
        }
    }
    return blocks;
}

void ProductLowering::pool_on_the_way(const Block& block, const tpu::Instruction& activate) {
    const SlidingWindow& w = *epilogue_.pool;
    // Padding that makes the windows as many as the pooled lines, or pixels of one.
    const auto needed = [](std::int64_t count, std::int64_t stride, std::int64_t kernel,
                           std::int64_t has) {
        return std::max<std::int64_t>(0, (count - 1) * stride + kernel - has);
    };
    const std::int64_t width = conv_->out_width();
    for (const PoolPiece& piece : block.pieces) {
        const std::int64_t top =
            std::max<std::int64_t>(0, w.pad_begin[0] - piece.first_line * w.stride[0]);
        tpu::Instruction pool = activate;
        pool.set(Field::kAccumulator,
                 activate[Field::kAccumulator] + static_cast<std::uint64_t>(piece.row));
        pool.set(Field::kRows, piece.rows);
        pool.set(Field::kDestination,
                 activate[Field::kDestination] +
                     static_cast<std::uint64_t>(piece.result) * activate[Field::kPitch]);
        pool.set(Field::kPool, tpu::PoolMode::kMax);
        pool.set(Field::kHeight, piece.height);
        pool.set(Field::kWidth, width);
        pool.set(Field::kPoolKernel, w.kernel[0]);
        pool.set(Field::kPoolStride, w.stride[0]);
        pool.set(Field::kPoolPadTop, top);
        pool.set(Field::kPoolPadLeft, w.pad_begin[1]);
        pool.set(Field::kPoolPadBottom,
                 needed(piece.lines, w.stride[0], w.kernel[0], piece.height + top));
        pool.set(Field::kPoolPadRight,
                 needed(w.output[1], w.stride[1], w.kernel[1], width + w.pad_begin[1]));
        c_.builder.emit(pool);
    }
}

}  // namespace lockstep::network::lowering
