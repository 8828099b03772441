// SPDX-License-Identifier: Apache-2.0
// Pooling of NHWC images. On integers an average is a sum of steps, divided, then scaled.
#include "sim/error/error.h"
#include "workloads/network/tpu/lowering.h"
#include "workloads/network/window.h"

#include <algorithm>

namespace lockstep::network::lowering {

void Lowering::lower_pool(const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const Shape &in = shape(x), &out = shape(y);
    if (in.size() != 4) throw InputError("pooling that is not over two dimensions");
    const Place from = image_of(x, node.name);
    const bool global = node.op == Operator::kGlobalAveragePool,
               max = node.op == Operator::kMaxPool;
    Window w;
    if (global)
        w = {{in[2], in[3]}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 1};
    else
        w = window_of(node, in);
    if (w.dilation[0] != 1 || w.dilation[1] != 1) throw InputError("dilation");
    // The instruction counts all of a window, or what lies in the image.
    for (size_t d = 0; d < 2 && !max && !global; ++d)
        if (node.integer("count_include_pad", 0) != 0 &&
            (w.output[d] - 1) * w.stride[d] + w.kernel[d] >
                in[d + 2] + w.pad_begin[d] + w.pad_end[d])
            throw InputError("an average that counts padding, but not all of it (ceil_mode)");
    if (value(y).quantisation && max &&
        (value(x).quantisation->scale != value(y).quantisation->scale ||
         value(x).quantisation->zero_point != value(y).quantisation->zero_point))
        throw InputError("a maximum that changes its scale");
    Scaling a{1, 0}, b{1, 0};
    if (value(y).quantisation && !max) {
        a.zero = scaling_of(value(x)).zero;
        b.scale = static_cast<float>(double{scaling_of(value(y)).scale} /
                                     double{scaling_of(value(x)).scale});
        b.zero = scaling_of(value(y)).zero;
    }
    const bool fixed = !max && is_fixed_point(node);
    std::optional<Matrix> scales;
    if (fixed) scales = average_scales(node, w.kernel[0] * w.kernel[1]);
    begin_step(node.name);
    Place to = image_place(y);
    const int64_t channels = in[1], pixels = out[2] * out[3];
    const Matrix source{from.space,    from.address,     from.type,
                        in[0] * in[2], in[3] * channels, in[3] * channels};
    const Matrix result{to.space, to.address, to.type, in[0] * pixels, channels, to.strides[3]};
    const bool resident = from.space == tpu::Space::kUnifiedBuffer;
    // Lines of the output together; of several images where one is small.
    const int64_t line_bytes = source.columns * static_cast<int64_t>(tpu::size_of(from.type));
    const auto budget = static_cast<int64_t>(window_room() / 8);
    // What passes through the ring, of an image and of a line of the output.
    const int64_t out_line = to.space == tpu::Space::kUnifiedBuffer
                                 ? 0
                                 : out[3] * channels * static_cast<int64_t>(tpu::size_of(to.type));
    const int64_t image_bytes = std::max(resident ? 0 : in[2] * line_bytes, out[2] * out_line);
    int64_t images = 1, lines = out[2];
    if (image_bytes <= budget)
        images = image_bytes == 0 ? in[0] : budget / image_bytes;
    else
        lines = std::max<int64_t>(1, std::min(resident ? lines
                                                       : (budget / line_bytes - w.kernel[0]) /
                                                             std::max<int64_t>(1, w.stride[0]),
                                              out_line == 0 ? lines : budget / out_line));
    for (int64_t n = 0; n < in[0]; n += images)
        for (int64_t line = 0; line < out[2]; line += lines) {
            const int64_t count = std::min(images, in[0] - n),
                          high = std::min(lines, out[2] - line), rows = count * high * out[3];
            const int64_t top = line * w.stride[0] - w.pad_begin[0];
            const bool whole = lines == out[2];
            const int64_t begin = whole ? 0 : std::clamp<int64_t>(top, 0, in[2] - 1);
            const int64_t end =
                whole ? in[2]
                      : std::clamp<int64_t>(top + (high - 1) * w.stride[0] + w.kernel[0], begin + 1,
                                            in[2]);
            const Tile tile = stage(source, n * in[2] + begin, whole ? count * in[2] : end - begin);
            const int64_t first = n * pixels + line * out[3];
            const Tile made = stage_result(result, first, rows);
            tpu::Instruction pool(
                Opcode::kPool,
                {{Field::kPool, max ? tpu::PoolMode::kMax : tpu::PoolMode::kAverage},
                 {Field::kCountPad, node.integer("count_include_pad", 0) != 0},
                 {Field::kA, tile.address},
                 {Field::kAType, tile.type},
                 {Field::kAScale, a.scale},
                 {Field::kAZero, a.zero},
                 {Field::kPixelPitch, static_cast<uint64_t>(channels) * tpu::size_of(from.type)},
                 {Field::kColumns, channels},
                 {Field::kRows, rows},
                 {Field::kFirstRow, 0},
                 {Field::kHeight, end - begin},
                 {Field::kWidth, in[3]},
                 {Field::kOutHeight, high},
                 {Field::kOutWidth, out[3]},
                 {Field::kKernelHeight, w.kernel[0]},
                 {Field::kKernelWidth, w.kernel[1]},
                 {Field::kStrideHeight, w.stride[0]},
                 {Field::kStrideWidth, w.stride[1]},
                 {Field::kPadTop, whole ? w.pad_begin[0] : begin - top},
                 {Field::kPadLeft, w.pad_begin[1]},
                 {Field::kDestination, made.address},
                 {Field::kPitch, made.pitch},
                 {Field::kType, made.type},
                 {Field::kOutScale, b.scale},
                 {Field::kZeroPoint, b.zero}});
            if (fixed) {
                const Tile table = stage(*scales, 0, 1);
                pool.set(Field::kRounding, tpu::Rounding::kFixedPoint);
                pool.set(Field::kAScale, 1.0f);
                pool.set(Field::kParameters, table.address);
            }
            check_held(tile);
            check_held(made);
            builder_.emit(pool);
            unstage(made, result, first, rows);
        }
    set_place(y, std::move(to));
}

}  // namespace lockstep::network::lowering
