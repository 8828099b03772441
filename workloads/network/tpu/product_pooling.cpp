// SPDX-License-Identifier: Apache-2.0
// Maxima of a convolution's result on the way out of the accumulators. The pipeline of generation 1
// pools rows as they pass (Jouppi et al., ISCA 2017, section 2; US patent 10192162): an `activate`
// takes a group of lines of an image and stores the pooled lines that these are enough for. Where a
// group begins, windows reach back into the one before: those lines go through the array again,
// where that costs less than an instruction of its own for the pooling. Later generations keep the
// result in memory and pool it in a kernel of its own, as compilers for them do.
#include "workloads/network/tpu/product.h"

#include <algorithm>

namespace lockstep::network::lowering {

namespace {

/// Largest number in the instruction's fields for windows.
constexpr int64_t kMostPool = 15;

/// First line of the image that the window of a pooled line needs, and the one after its last.
struct Lines {
    int64_t begin, end;
};

Lines lines_for(const Window& pool, int64_t first, int64_t end, int64_t height) {
    return {std::max<int64_t>(0, first * pool.stride[0] - pool.pad_begin[0]),
            std::min(height, (end - 1) * pool.stride[0] - pool.pad_begin[0] + pool.kernel[0])};
}

}  // namespace

bool ProductLowering::fuse_pool(const Node& next) {
    if (next.op != Operator::kMaxPool || !integer_ || l_.has_memory() || epilogue_.pool)
        return false;
    if (epilogue_.addend != kNoValue || node_.op != Operator::kConv || next.outputs.size() != 1)
        return false;
    // Held inputs are too few rows to be lines of an image.
    if (l_.target_.limits.dataflow == tpu::Dataflow::kInputStationary) return false;
    const Value &in = l_.value(next.inputs[0]), &out = l_.value(next.outputs[0]);
    if (!out.quantisation || in.quantisation->scale != out.quantisation->scale ||
        in.quantisation->zero_point != out.quantisation->zero_point)
        return false;
    const Shape& image = *in.shape;
    const Window w = window_of(next, image);
    const auto square = [](const std::vector<int64_t>& side) { return side[0] == side[1]; };
    if (!square(w.kernel) || !square(w.stride) || w.dilation != std::vector<int64_t>{1, 1})
        return false;
    for (size_t d = 0; d < 2; ++d) {
        const int64_t last = (w.output[d] - 1) * w.stride[d] - w.pad_begin[d];
        // No window sees padding alone.
        if (w.pad_begin[d] >= w.kernel[d] || last >= image[d + 2]) return false;
        if (w.kernel[d] > kMostPool || w.stride[d] > kMostPool) return false;
    }
    const int64_t limit = l_.target_.limits.accumulator_rows / 2;
    if (w.kernel[0] * image[3] > limit) return false;
    // Lines that pass twice, by as many times as each goes through the array.
    const Shape& filter = l_.shape(node_.inputs[1]);
    const int64_t passes = (element_count(filter) / filter[0] + l_.target_.limits.array_rows - 1) /
                           l_.target_.limits.array_rows;
    int64_t rows = 0;
    for (const PoolGroup& group : pool_groups(w, image, limit, image[0]))
        rows += group.images * group.lines * image[3];
    const int64_t pixels = image[0] * image[2] * image[3];
    if ((rows - pixels) * passes >= pixels) return false;
    epilogue_.pool = w;
    return true;
}

std::vector<ProductLowering::PoolGroup> ProductLowering::pool_groups(const Window& w,
                                                                     const Shape& image,
                                                                     int64_t limit,
                                                                     int64_t together) {
    std::vector<PoolGroup> groups;
    const int64_t height = image[2], width = image[3], pixels = height * width,
                  out_height = w.output[0];
    together = std::min(together, limit / pixels);
    if (together > 0) {
        for (int64_t n = 0; n < image[0]; n += together)
            groups.push_back({n, std::min(together, image[0] - n), 0, height, 0, out_height});
        return groups;
    }
    // As many groups as an image needs, of about the same size.
    const auto most = [&] {
        int64_t count = 1;
        while (count < out_height && ((count * w.stride[0]) + w.kernel[0]) * width <= limit)
            ++count;
        return count;
    }();
    const int64_t number = (out_height + most - 1) / most;
    const int64_t each = (out_height + number - 1) / number;
    for (int64_t n = 0; n < image[0]; ++n)
        for (int64_t first = 0; first < out_height; first += each) {
            const int64_t end = std::min(out_height, first + each);
            const Lines lines = lines_for(w, first, end, height);
            groups.push_back({n, 1, lines.begin, lines.end - lines.begin, first, end - first});
        }
    return groups;
}

std::vector<ProductLowering::Block> ProductLowering::pooled_blocks(int64_t limit,
                                                                   bool resident) const {
    const Window& pool = *epilogue_.pool;
    const int64_t height = conv_->out_height(), width = conv_->out_width();
    const int64_t pixels = height * width, pooled = pool.output[0] * pool.output[1];
    std::vector<Block> blocks;
    // Images that are not resident pass through the ring.
    const int64_t image_bytes = conv_->height * conv_->width * conv_->channels,
                  images = m_ / pixels,
                  together =
                      resident ? images : static_cast<int64_t>(l_.ring_.size() / 8) / image_bytes;
    for (const PoolGroup& group : pool_groups(pool, {images, n_, height, width}, limit, together)) {
        const bool whole = group.lines == height && together > 0;
        Block block;
        block.first = group.first_image * pixels + group.first_line * width;
        block.rows = group.images * group.lines * width;
        block.pool_height = group.lines;
        block.pool_first_line = group.first_pooled;
        block.pool_lines = group.pooled_lines;
        block.result_first = group.first_image * pooled + group.first_pooled * pool.output[1];
        block.result_rows = group.images * group.pooled_lines * pool.output[1];
        if (resident || whole) {
            block.first_row = resident ? block.first : 0;
            block.height = conv_->height;
            block.out_height = height;
            block.pad_top = conv_->window.pad_begin[0];
        } else {
            block.out_height = group.lines;
        }
        blocks.push_back(block);
    }
    return blocks;
}

void ProductLowering::pool_on_the_way(const Block& block, tpu::Instruction& activate) const {
    const Window& w = *epilogue_.pool;
    // Padding that makes the group's windows as many as its pooled lines.
    const auto needed = [](int64_t count, int64_t stride, int64_t kernel, int64_t has) {
        return std::max<int64_t>(0, (count - 1) * stride + kernel - has);
    };
    const int64_t width = conv_->out_width();
    const int64_t top = std::max<int64_t>(0, w.pad_begin[0] - block.pool_first_line * w.stride[0]);
    activate.set(Field::kPool, tpu::PoolMode::kMax);
    activate.set(Field::kHeight, block.pool_height);
    activate.set(Field::kWidth, width);
    activate.set(Field::kPoolKernel, w.kernel[0]);
    activate.set(Field::kPoolStride, w.stride[0]);
    activate.set(Field::kPoolPadTop, top);
    activate.set(Field::kPoolPadLeft, w.pad_begin[1]);
    activate.set(Field::kPoolPadBottom,
                 needed(block.pool_lines, w.stride[0], w.kernel[0], block.pool_height + top));
    activate.set(Field::kPoolPadRight,
                 needed(w.output[1], w.stride[1], w.kernel[1], width + w.pad_begin[1]));
}

}  // namespace lockstep::network::lowering
