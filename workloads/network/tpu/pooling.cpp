// SPDX-License-Identifier: Apache-2.0
// Pooling of NHWC images. On integers an average is a sum of steps, divided, then scaled.
#include <algorithm>

#include "workloads/network/shapes/window.h"
#include "workloads/network/tpu/copies.h"
#include "workloads/network/tpu/fixed_point.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network::lowering {

namespace {

bool is_global(const Node& node) {
    return node.op == Operator::kGlobalAveragePool;
}

SlidingWindow window_over(const Node& node, const Shape& image) {
    if (is_global(node)) return {{image[2], image[3]}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 1};
    return window_of(node, image);
}

}  // namespace

compile::Reason reason_pool(const Asked& a) {
    const Value &x = a.graph.value(a.node.inputs[0]), &y = a.graph.value(a.node.outputs[0]);
    const Shape& in = *x.shape;
    const bool max = a.node.op == Operator::kMaxPool;
    if (in.size() != 4) return "pooling that is not over two dimensions";
    const SlidingWindow w = window_over(a.node, in);
    if (w.dilation[0] != 1 || w.dilation[1] != 1) return "dilation";
    // The instruction counts all of a window, or what lies in the image.
    for (std::size_t d = 0; d < 2 && !max && !is_global(a.node); ++d)
        if (a.node.integer("count_include_pad", 0) != 0 &&
            (w.output[d] - 1) * w.stride[d] + w.kernel[d] >
                in[d + 2] + w.pad_begin[d] + w.pad_end[d])
            return "an average that counts padding, but not all of it (ceil_mode)";
    if (max && !same_scale(x, y)) return "a maximum that changes its scale";
    if (!max && a.is_fixed_point()) return reason_average(a, w.kernel[0] * w.kernel[1]);
    return std::nullopt;
}

void lower_pool(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const Shape &in = c.shape(x), &out = c.shape(y);
    const Place from = image_of(c, x, node.name);
    const bool max = node.op == Operator::kMaxPool;
    const SlidingWindow w = window_over(node, in);
    Scaling a{1, 0}, b{1, 0};
    if (c.value(y).quantisation && !max) {
        a.zero = scaling_of(c.value(x)).zero;
        b.scale = static_cast<float>(double{scaling_of(c.value(y)).scale} /
                                     double{scaling_of(c.value(x)).scale});
        b.zero = scaling_of(c.value(y)).zero;
    }
    const bool fixed = !max && c.is_fixed_point(node);
    std::optional<Matrix> scales;
    if (fixed) scales = average_scales(c, node, w.kernel[0] * w.kernel[1]);
    c.steps.begin(node.name);
    Place to = c.places.make_image(y);
    const std::int64_t channels = in[1], pixels = out[2] * out[3];
    const Matrix source{from.space,    from.address,     from.type,
                        in[0] * in[2], in[3] * channels, in[3] * channels};
    const Matrix result{to.space, to.address, to.type, in[0] * pixels, channels, to.strides[3]};
    const bool resident = from.space == tpu::Space::kUnifiedBuffer;
    // Lines of the output together; of several images where one is small.
    const std::int64_t line_bytes =
        source.columns * static_cast<std::int64_t>(tpu::size_of(from.type));
    const auto budget = static_cast<std::int64_t>(c.staging.window_room() / 8);
    // What passes through the ring, of an image and of a line of the output.
    const std::int64_t out_line =
        to.space == tpu::Space::kUnifiedBuffer
            ? 0
            : out[3] * channels * static_cast<std::int64_t>(tpu::size_of(to.type));
    const std::int64_t image_bytes = std::max(resident ? 0 : in[2] * line_bytes, out[2] * out_line);
    std::int64_t images = 1, lines = out[2];
    if (image_bytes <= budget)
        images = image_bytes == 0 ? in[0] : budget / image_bytes;
    else
        lines = std::max<std::int64_t>(
            1, std::min(resident ? lines
                                 : (budget / line_bytes - w.kernel[0]) /
                                       std::max<std::int64_t>(1, w.stride[0]),
                        out_line == 0 ? lines : budget / out_line));
    for (std::int64_t n = 0; n < in[0]; n += images)
        for (std::int64_t line = 0; line < out[2]; line += lines) {
            const std::int64_t count = std::min(images, in[0] - n),
                               high = std::min(lines, out[2] - line), rows = count * high * out[3];
            const std::int64_t top = line * w.stride[0] - w.pad_begin[0];
            const bool whole = lines == out[2];
            const std::int64_t begin = whole ? 0 : std::clamp<std::int64_t>(top, 0, in[2] - 1);
            const std::int64_t end =
                whole ? in[2]
                      : std::clamp<std::int64_t>(top + (high - 1) * w.stride[0] + w.kernel[0],
                                                 begin + 1, in[2]);
            const BufferRows tile =
                c.staging.load(source, n * in[2] + begin, whole ? count * in[2] : end - begin);
            const std::int64_t first = n * pixels + line * out[3];
            const BufferRows made = c.staging.room_for(result, first, rows);
            tpu::Instruction pool(
                tpu::Opcode::kPool,
                {{tpu::Field::kPool, max ? tpu::PoolMode::kMax : tpu::PoolMode::kAverage},
                 {tpu::Field::kCountPad, node.integer("count_include_pad", 0) != 0},
                 {tpu::Field::kA, tile.address},
                 {tpu::Field::kAType, tile.type},
                 {tpu::Field::kAScale, a.scale},
                 {tpu::Field::kAZero, a.zero},
                 {tpu::Field::kPixelPitch,
                  static_cast<std::uint64_t>(channels) * tpu::size_of(from.type)},
                 {tpu::Field::kColumns, channels},
                 {tpu::Field::kRows, rows},
                 {tpu::Field::kFirstRow, 0},
                 {tpu::Field::kHeight, end - begin},
                 {tpu::Field::kWidth, in[3]},
                 {tpu::Field::kOutHeight, high},
                 {tpu::Field::kOutWidth, out[3]},
                 {tpu::Field::kKernelHeight, w.kernel[0]},
                 {tpu::Field::kKernelWidth, w.kernel[1]},
                 {tpu::Field::kStrideHeight, w.stride[0]},
                 {tpu::Field::kStrideWidth, w.stride[1]},
                 {tpu::Field::kPadTop, whole ? w.pad_begin[0] : begin - top},
                 {tpu::Field::kPadLeft, w.pad_begin[1]},
                 {tpu::Field::kDestination, made.address},
                 {tpu::Field::kPitch, made.pitch},
                 {tpu::Field::kType, made.type},
                 {tpu::Field::kOutScale, b.scale},
                 {tpu::Field::kZeroPoint, b.zero}});
            if (fixed) {
                const BufferRows table = c.staging.load(*scales, 0, 1);
                pool.set(tpu::Field::kRounding, tpu::Rounding::kFixedPoint);
                pool.set(tpu::Field::kAScale, 1.0f);
                pool.set(tpu::Field::kParameters, table.address);
            }
            c.staging.check_held(tile);
            c.staging.check_held(made);
            c.builder.emit(pool);
            c.staging.store(made, result, first, rows);
        }
    c.places.set(y, std::move(to));
}

}  // namespace lockstep::network::lowering
