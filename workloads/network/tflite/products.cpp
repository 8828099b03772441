// SPDX-License-Identifier: Apache-2.0
// Paddings, fused activations, orders of dimensions: the reference kernels of tensorflow/lite.
#include <algorithm>

#include "workloads/network/tflite/operators.h"

namespace lockstep::network::tflite {

namespace {

ValueId weights(Model& m, std::int32_t t, Shape shape, const std::vector<std::size_t>& perm,
                std::int64_t axis) {
    TensorInfo& info = m.tensor(t);
    if (info.type != kInt8 || !info.quantisation)
        refuse(fmt::format("weights {} are not int8", info.name));
    if (info.quantisation->axis && *info.quantisation->axis != axis)
        refuse("scales along another dimension than the output channels");
    Value value{info.name, ValueKind::kParameter, ElementType::kInt8, shape};
    Tensor data(ElementType::kInt8, std::move(shape));
    m.copy_bytes(info, data, perm);
    value.data = std::make_shared<const Tensor>(std::move(data));
    value.quantisation = info.quantisation;
    if (value.quantisation->axis) {
        value.quantisation->axis = 0;
        if (value.quantisation->scale.size() != static_cast<std::size_t>(value.shape->at(0)))
            refuse("scales for another number of channels");
    }
    return m.graph().add(std::move(value));
}

/// `place`: which of the operator's operands the bias is.
void add_bias(Model& m, const Table& op, std::size_t place, std::vector<ValueId>& operands,
              std::int64_t channels) {
    const Vector in = op.vector(1, 4);
    if (in.size() <= place || in.scalar<std::int32_t>(place) < 0) return;
    const TensorInfo& info = m.tensor(in.scalar<std::int32_t>(place));
    const std::vector<std::int64_t> values = m.integers(in.scalar<std::int32_t>(place));
    if (static_cast<std::int64_t>(values.size()) != channels) refuse("a bias of another size");
    Value value{info.name, ValueKind::kParameter, ElementType::kInt32, Shape{channels}};
    value.data =
        std::make_shared<const Tensor>(from_integers(ElementType::kInt32, {channels}, values));
    Quantisation q;
    const std::vector<float>& scales = m.graph().value(operands[1]).quantisation->scale;
    for (const float s : scales)
        q.scale.push_back(s * m.graph().value(operands[0]).quantisation->scale.at(0));
    q.zero_point.assign(q.scale.size(), 0);
    if (q.scale.size() > 1) q.axis = 0;
    value.quantisation = std::move(q);
    operands.push_back(m.graph().add(std::move(value)));
}

}  // namespace

std::vector<std::int64_t> pads(std::int8_t padding, const Shape& in,
                               const std::vector<std::int64_t>& kernel,
                               const std::vector<std::int64_t>& stride,
                               const std::vector<std::int64_t>& dilation) {
    std::vector<std::int64_t> result(4, 0);
    for (std::size_t d = 0; d < 2 && padding == 0; ++d) {
        if (stride[d] < 1 || dilation[d] < 1) refuse("a stride or dilation of 0");
        const std::int64_t out = (in[d + 1] + stride[d] - 1) / stride[d];
        const std::int64_t total = std::max<std::int64_t>(
            0, (out - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1 - in[d + 1]);
        result[d] = total / 2;
        result[d + 2] = total - total / 2;
    }
    return result;
}

void read_convolution(Model& m, const Table& op, const Table& options, std::int32_t x,
                      std::int32_t w, std::int32_t y, bool depthwise) {
    const Shape in = m.tensor(x).shape, filter = m.tensor(w).shape;
    if (in.size() != 4 || filter.size() != 4)
        refuse("a convolution that is not over two dimensions");
    const std::size_t more = depthwise ? 1 : 0;
    const std::vector<std::int64_t> kernel = {filter[1], filter[2]},
                                    stride = {options.scalar<std::int32_t>(2, 0),
                                              options.scalar<std::int32_t>(1, 0)},
                                    dilation = {options.scalar<std::int32_t>(5 + more, 1),
                                                options.scalar<std::int32_t>(4 + more, 1)};
    const std::int64_t outputs = depthwise ? filter[3] : filter[0],
                       depth = depthwise ? 1 : filter[3];
    if (in[3] % depth != 0) refuse("channels that do not fit the filter");
    std::vector<ValueId> operands = {m.value_of(x),
                                     weights(m, w, {outputs, depth, filter[1], filter[2]},
                                             depthwise ? std::vector<std::size_t>{3, 0, 1, 2}
                                                       : std::vector<std::size_t>{0, 3, 1, 2},
                                             depthwise ? 3 : 0)};
    add_bias(m, op, 2, operands, outputs);
    m.add_fused(Operator::kConv, operands, y, options.scalar<std::int8_t>(3 + more, 0),
                {{"pads", pads(options.scalar<std::int8_t>(0, 0), in, kernel, stride, dilation)},
                 {"strides", stride},
                 {"dilations", dilation},
                 {"group", in[3] / depth}});
}

void read_fully_connected(Model& m, const Table& op, const Table& options, std::int32_t x,
                          std::int32_t w, std::int32_t y) {
    if (options.scalar<std::int8_t>(1, 0) != 0) refuse("shuffled weights");
    const Shape filter = m.tensor(w).shape;
    if (filter.size() != 2) refuse("weights that are no matrix");
    Shape flat = m.tensor(x).flat;
    ValueId from = m.value_of(x);
    const Shape in = m.tensor(x).shape;
    if (in.size() == 4) {
        flat = {in[3], in[1], in[2]};
        from = m.flatten(x, m.tensor(x).name + ".flat");
    }
    if (in.size() == 3) refuse("rows of three dimensions");
    const ValueId matrix = weights(m, w, filter, {}, 0);
    if (!flat.empty() && flat[1] * flat[2] > 1) {
        // The file's order is h, w, c; the graph's c, h, w.
        Tensor turned = *m.graph().value(matrix).data;
        const std::int64_t area = flat[1] * flat[2], depth = filter[1];
        if (area * flat[0] != depth) refuse("weights for another image");
        const std::span<const std::int8_t> old = m.graph().value(matrix).data->as<std::int8_t>();
        for (std::int64_t k = 0; k < filter[0]; ++k)
            for (std::int64_t i = 0; i < depth; ++i)
                turned.as<std::int8_t>()[static_cast<std::size_t>(k * depth + i)] =
                    old[static_cast<std::size_t>(k * depth + i % area * flat[0] + i / area)];
        m.graph().values[matrix].data = std::make_shared<const Tensor>(std::move(turned));
    }
    std::vector<ValueId> operands = {from, matrix};
    add_bias(m, op, 2, operands, filter[0]);
    if (m.tensor(y).shape.size() != 2) refuse("a result that is no matrix");
    m.add_fused(Operator::kGemm, operands, y, options.scalar<std::int8_t>(0, 0),
                {{"transB", std::int64_t{1}}});
}

/// A convolution, with the filters turned around, over the image with stride - 1 zeros after
/// each element. Its padding is that of the convolution from the result to the input.
void read_transposed_convolution(Model& m, const Table& op, const Table& options) {
    const Vector operands_of = op.vector(1, 4);
    if (operands_of.size() < 3) refuse("a missing operand");
    const auto w = operands_of.scalar<std::int32_t>(1), x = operands_of.scalar<std::int32_t>(2),
               y = op.vector(2, 4).scalar<std::int32_t>(0);
    const Shape in = m.tensor(x).shape, filter = m.tensor(w).shape, out = m.tensor(y).shape;
    if (in.size() != 4 || filter.size() != 4 || out.size() != 4 || filter[3] != in[3] ||
        filter[0] != out[3] || in[0] != out[0])
        refuse("a transposed convolution whose shapes do not fit");
    if (m.integers(operands_of.scalar<std::int32_t>(0)) != out)
        refuse("an output shape that is not its result's");
    if (!m.tensor(x).flat.empty()) refuse("of a reshaped image");
    const std::int8_t padding = options.scalar<std::int8_t>(0, 0);
    const std::vector<std::int64_t> stride = {options.scalar<std::int32_t>(2, 0),
                                              options.scalar<std::int32_t>(1, 0)},
                                    kernel = {filter[1], filter[2]};
    const std::vector<std::int64_t> around = pads(padding, out, kernel, stride, {1, 1});
    std::vector<std::int64_t> turned(4);
    for (std::size_t d = 0; d < 2; ++d) {
        if (stride[d] < 1 || stride[d] > kMaximumExtent) refuse("a stride of 0");
        const std::int64_t spread = (in[d + 1] - 1) * stride[d] + 1;
        turned[d] = kernel[d] - 1 - around[d];
        turned[d + 2] = out[d + 1] + kernel[d] - 1 - turned[d] - spread;
        if (turned[d] < 0 || turned[d + 2] < 0)
            refuse(fmt::format("a result of {} rows from {}, stride {}", out[d + 1], in[d + 1],
                               stride[d]));
    }
    const ValueId from = m.value_of(x);
    const ValueId filters =
        weights(m, w, {filter[0], filter[3], filter[1], filter[2]}, {0, 3, 1, 2}, 0);
    Tensor backwards = *m.graph().value(filters).data;
    const std::int64_t taps = kernel[0] * kernel[1];
    const std::span<std::int8_t> values = backwards.as<std::int8_t>();
    for (std::int64_t f = 0; f < filter[0] * filter[3]; ++f)
        std::reverse(values.begin() + f * taps, values.begin() + (f + 1) * taps);
    m.graph().values[filters].data = std::make_shared<const Tensor>(std::move(backwards));
    std::vector<ValueId> operands = {from, filters};
    add_bias(m, op, 3, operands, filter[0]);
    m.add_fused(Operator::kConv, operands, y, options.scalar<std::int8_t>(3, 0),
                {{"pads", turned}, {"upsample", stride}});
}

}  // namespace lockstep::network::tflite
