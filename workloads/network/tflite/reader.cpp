// SPDX-License-Identifier: Apache-2.0
// Source: tensorflow/lite/schema/schema.fbs (the numbers of fields, operators and enumerators) and
// the reference kernels (paddings, fused activations, orders of dimensions).
#include "workloads/network/tflite/reader.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>

#include "sim/numerics/resize.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/tflite/flatbuffer.h"

namespace lockstep::network {

namespace {

using tflite::Bytes;
using tflite::Table;
using tflite::Vector;

constexpr std::uint32_t kSchemaVersion = 3;
constexpr std::int64_t kMaximumExtent = 1 << 20;

// Of TensorType.
constexpr std::int8_t kFloat32 = 0, kInt32 = 2, kInt8 = 9;
// Of BuiltinOperator.
enum : std::int32_t {
    kAdd = 0,
    kAveragePool = 1,
    kConcatenation = 2,
    kConv = 3,
    kDepthwiseConv = 4,
    kDequantize = 6,
    kFullyConnected = 9,
    kLogistic = 14,
    kMaxPool = 17,
    kMul = 18,
    kRelu = 19,
    kRelu6 = 21,
    kReshape = 22,
    kResizeBilinear = 23,
    kSoftmax = 25,
    kTanh = 28,
    kPad = 34,
    kMean = 40,
    kSub = 41,
    kSqueeze = 43,
    kTransposeConv = 67,
    kResizeNearest = 97,
    kLeakyRelu = 98,
    kQuantize = 114,
    kHardSwish = 117,
};

struct Unsupported : InputError {
    using InputError::InputError;
};
[[noreturn]] void refuse(const std::string& reason) {
    throw Unsupported(reason);
}

struct TensorInfo {
    std::string name;
    Shape shape;  ///< as in the file
    std::int8_t type = 0;
    std::span<const std::uint8_t> data;
    std::optional<Quantisation> quantisation;
    ValueId value = kNoValue;
    Shape flat;  ///< c, h, w: the graph flattened an image in its own order
};

/// NHWC to the graph's NCHW, or any shape as it is.
Shape to_graph(const Shape& s) {
    return s.size() == 4 ? Shape{s[0], s[3], s[1], s[2]} : s;
}
std::int64_t axis_to_graph(std::int64_t axis, std::size_t rank) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    constexpr std::int64_t kPlace[] = {0, 2, 3, 1};
    return rank == 4 && axis >= 0 && axis < 4 ? kPlace[axis] : axis;
}

class Reader {
  public:
    explicit Reader(const Bytes& bytes) : bytes_(bytes) {}

    Graph read() {
        bytes_.check(0, 8);
        if (std::memcmp(bytes_.data.data() + 4, "TFL3", 4) != 0)
            bytes_.fail(4, "no TensorFlow Lite model (its identifier is not TFL3)");
        const Table model(bytes_, bytes_.follow(0));
        if (const auto version = model.scalar<std::uint32_t>(0, 0); version != kSchemaVersion)
            bytes_.fail(model.offset(), fmt::format("schema version {}, not 3", version));
        const Vector graphs = model.vector(2, 4);
        if (graphs.size() != 1)
            throw InputError(
                fmt::format("{}: {} subgraphs; one is read", bytes_.name, graphs.size()));
        buffers_ = model.vector(4, 4);
        codes_ = model.vector(1, 4);
        const Table graph = graphs.table(0);
        read_tensors(graph.vector(0, 4));
        graph_.name = bytes_.name;
        const Vector operators = graph.vector(3, 4);
        std::string wrong;
        find_edges(graph, operators);
        for (std::size_t i = 0; i < operators.size(); ++i) {
            std::int32_t code = -1;
            try {
                read_operator(operators.table(i), i, code);
            } catch (const Unsupported& reason) {
                wrong += fmt::format("\n  operator {} (code {}): {}", i, code, reason.what());
            }
        }
        if (!wrong.empty())
            throw InputError(fmt::format("{} has what is not supported:{}", bytes_.name, wrong));
        for (const std::int32_t t : outputs_) {
            if (!tensor(t).flat.empty())
                throw InputError(
                    fmt::format("{}: output {} is a reshaped image", bytes_.name, tensor(t).name));
            graph_.outputs.push_back(value_of(t));
        }
        validate(graph_);
        return std::move(graph_);
    }

  private:
    TensorInfo& tensor(std::int32_t index) {
        if (index < 0 || static_cast<std::size_t>(index) >= tensors_.size())
            throw InputError(fmt::format("{}: no tensor {}", bytes_.name, index));
        return tensors_[static_cast<std::size_t>(index)];
    }

    void read_tensors(const Vector& tensors) {
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const Table t = tensors.table(i);
            TensorInfo info;
            info.name = fmt::format("{}.{}", i, t.text(3));
            const Vector shape = t.vector(0, 4);
            for (std::size_t d = 0; d < shape.size(); ++d) {
                const auto extent = shape.scalar<std::int32_t>(d);
                if (extent < 1 || extent > kMaximumExtent)
                    bytes_.fail(t.offset(),
                                fmt::format("tensor {} has an extent of {}", info.name, extent));
                info.shape.push_back(extent);
            }
            element_count(info.shape);
            info.type = t.scalar<std::int8_t>(1, 0);
            const auto buffer = t.scalar<std::uint32_t>(2, 0);
            if (buffer >= buffers_.size() && buffer != 0)
                bytes_.fail(t.offset(),
                            fmt::format("tensor {} has no buffer {}", info.name, buffer));
            if (buffer < buffers_.size()) info.data = buffers_.table(buffer).vector(0, 1).bytes();
            if (const auto q = t.table(4)) read_quantisation(*q, info);
            tensors_.push_back(std::move(info));
        }
    }

    void read_quantisation(const Table& table, TensorInfo& info) {
        const Vector scales = table.vector(2, 4), zeros = table.vector(3, 8);
        if (scales.size() == 0) return;
        Quantisation q;
        for (std::size_t i = 0; i < scales.size(); ++i) {
            q.scale.push_back(scales.scalar<float>(i));
            const std::int64_t zero = i < zeros.size() ? zeros.scalar<std::int64_t>(i) : 0;
            if (!(q.scale.back() > 0) || !std::isfinite(q.scale.back()) || zero < -128 ||
                zero > 127)
                bytes_.fail(table.offset(), fmt::format("tensor {}: scale {}, zero point {}",
                                                        info.name, q.scale.back(), zero));
            q.zero_point.push_back(static_cast<std::int32_t>(zero));
        }
        if (scales.size() > 1) q.axis = table.scalar<std::int32_t>(6, 0);
        info.quantisation = std::move(q);
    }

    /// Inputs, and floats at the edges that only go to int8 or come from it.
    void find_edges(const Table& graph, const Vector& operators) {
        const Vector inputs = graph.vector(1, 4), outputs = graph.vector(2, 4);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            outputs_.push_back(outputs.scalar<std::int32_t>(i));
        std::map<std::int32_t, std::int32_t> quantised;
        for (std::size_t i = 0; i < operators.size(); ++i) {
            const Table op = operators.table(i);
            const Vector in = op.vector(1, 4), out = op.vector(2, 4);
            if (in.size() == 0 || out.size() == 0) continue;
            const std::int32_t from = in.scalar<std::int32_t>(0), to = out.scalar<std::int32_t>(0);
            const std::int32_t code = code_of(op);
            if (code == kQuantize && tensor(from).type == kFloat32) quantised[from] = to;
            if (code == kDequantize)
                for (std::int32_t& result : outputs_)
                    if (result == to) result = from;
        }
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            std::int32_t t = inputs.scalar<std::int32_t>(i);
            if (const auto found = quantised.find(t); found != quantised.end()) t = found->second;
            add_value(t, ValueKind::kInput);
            graph_.inputs.push_back(tensor(t).value);
        }
    }

    std::int32_t code_of(const Table& op) {
        const auto index = op.scalar<std::uint32_t>(0, 0);
        if (index >= codes_.size())
            bytes_.fail(op.offset(), fmt::format("no operator code {}", index));
        const Table code = codes_.table(index);
        return std::max<std::int32_t>(code.scalar<std::int8_t>(0, 0),
                                      code.scalar<std::int32_t>(3, 0));
    }

    /// An int8 value of the graph's order.
    ValueId add_value(std::int32_t t, ValueKind kind) {
        TensorInfo& info = tensor(t);
        if (info.type != kInt8 || !info.quantisation || info.quantisation->axis)
            refuse(fmt::format("tensor {} is not int8 with one scale", info.name));
        Value value{info.name, kind, ElementType::kInt8, to_graph(info.shape)};
        value.quantisation = info.quantisation;
        return info.value = graph_.add(std::move(value));
    }

    ValueId value_of(std::int32_t t) {
        TensorInfo& info = tensor(t);
        if (info.value != kNoValue) return info.value;
        if (info.data.empty())
            refuse(fmt::format("tensor {} is read before it is written", info.name));
        add_value(t, ValueKind::kConstant);
        Value& value = graph_.values[info.value];
        Tensor data(ElementType::kInt8, *value.shape);
        copy_bytes(info, data,
                   info.shape.size() == 4 ? std::vector<std::size_t>{0, 3, 1, 2}
                                          : std::vector<std::size_t>{});
        value.data = std::make_shared<const Tensor>(std::move(data));
        return info.value;
    }

    /// Stored values with their dimensions in another order (empty: the same).
    void copy_bytes(const TensorInfo& info, Tensor& to, const std::vector<std::size_t>& perm) {
        const auto count = static_cast<std::size_t>(element_count(info.shape));
        if (info.data.size() != count)
            throw InputError(fmt::format("{}: tensor {} has {} bytes, not {}", bytes_.name,
                                         info.name, info.data.size(), count));
        const auto taken = static_cast<std::size_t>(element_count(to.shape));
        if (taken != count || (!perm.empty() && perm.size() != info.shape.size()))
            throw InputError(fmt::format("{}: tensor {} has {} values, its operator takes {}",
                                         bytes_.name, info.name, count, taken));
        std::int8_t* out = to.as<std::int8_t>().data();
        if (perm.empty()) {
            std::memcpy(out, info.data.data(), count);
            return;
        }
        std::vector<std::size_t> strides(info.shape.size(), 1);
        for (std::size_t d = info.shape.size(); d-- > 1;)
            strides[d - 1] = strides[d] * static_cast<std::size_t>(info.shape[d]);
        std::vector<std::int64_t> index(perm.size(), 0);
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t from = 0;
            for (std::size_t d = 0; d < perm.size(); ++d)
                from += static_cast<std::size_t>(index[d]) * strides[perm[d]];
            out[i] = static_cast<std::int8_t>(info.data[from]);
            for (std::size_t d = perm.size(); d-- > 0;) {
                if (++index[d] < to.shape[d]) break;
                index[d] = 0;
            }
        }
    }

    std::vector<std::int64_t> integers(std::int32_t t) {
        const TensorInfo& info = tensor(t);
        if (info.type != kInt32 ||
            info.data.size() != 4 * static_cast<std::size_t>(element_count(info.shape)))
            refuse(fmt::format("tensor {} is no constant of int32", info.name));
        std::vector<std::int64_t> values(info.data.size() / 4);
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::int32_t value = 0;
            std::memcpy(&value, info.data.data() + 4 * i, 4);
            values[i] = value;
        }
        return values;
    }

    ValueId constant(std::string name, Tensor tensor_value) {
        Value value{std::move(name), ValueKind::kConstant, tensor_value.type, tensor_value.shape};
        value.data = std::make_shared<const Tensor>(std::move(tensor_value));
        return graph_.add(std::move(value));
    }

    void add_node(Operator op, std::vector<ValueId> inputs, ValueId out,
                  std::map<std::string, Attribute, std::less<>> attributes = {}) {
        graph_.nodes.push_back({fmt::format("op{}.{}", operator_, graph_.nodes.size()),
                                op,
                                std::move(inputs),
                                {out},
                                std::move(attributes)});
    }

    /// The node, and the activation that is fused to it, which has the same scale.
    void add_fused(Operator op, std::vector<ValueId> inputs, std::int32_t out,
                   std::int8_t activation,
                   std::map<std::string, Attribute, std::less<>> attributes = {}) {
        const ValueId result = add_value(out, ValueKind::kComputed);
        if (activation == 0) return add_node(op, std::move(inputs), result, std::move(attributes));
        Value value = graph_.value(result);
        value.name += ".sum";
        const ValueId sum = graph_.add(std::move(value));
        add_node(op, std::move(inputs), sum, std::move(attributes));
        add_clip(sum, result, activation);
    }

    void add_clip(ValueId from, ValueId to, std::int8_t activation) {
        const auto clip = [&](float low, float high) {
            add_node(Operator::kClip,
                     {from,
                      constant(fmt::format("low{}", graph_.values.size()),
                               make_tensor({}, std::span<const float>(&low, 1))),
                      constant(fmt::format("high{}", graph_.values.size()),
                               make_tensor({}, std::span<const float>(&high, 1)))},
                     to);
        };
        if (activation == 1) return add_node(Operator::kRelu, {from}, to);
        if (activation == 2) return clip(-1, 1);
        if (activation == 3) return clip(0, 6);
        refuse(fmt::format("fused activation {}", activation));
    }

    /// Pads of a window: SAME (0) or VALID (1).
    static std::vector<std::int64_t> pads(std::int8_t padding, const Shape& in,
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

    ValueId weights(std::int32_t t, Shape shape, const std::vector<std::size_t>& perm,
                    std::int64_t axis) {
        TensorInfo& info = tensor(t);
        if (info.type != kInt8 || !info.quantisation)
            refuse(fmt::format("weights {} are not int8", info.name));
        if (info.quantisation->axis && *info.quantisation->axis != axis)
            refuse("scales along another dimension than the output channels");
        Value value{info.name, ValueKind::kParameter, ElementType::kInt8, shape};
        Tensor data(ElementType::kInt8, std::move(shape));
        copy_bytes(info, data, perm);
        value.data = std::make_shared<const Tensor>(std::move(data));
        value.quantisation = info.quantisation;
        if (value.quantisation->axis) {
            value.quantisation->axis = 0;
            if (value.quantisation->scale.size() != static_cast<std::size_t>(value.shape->at(0)))
                refuse("scales for another number of channels");
        }
        return graph_.add(std::move(value));
    }

    /// `place`: which of the operator's operands the bias is.
    void add_bias(const Table& op, std::size_t place, std::vector<ValueId>& operands,
                  std::int64_t channels) {
        const Vector in = op.vector(1, 4);
        if (in.size() <= place || in.scalar<std::int32_t>(place) < 0) return;
        const TensorInfo& info = tensor(in.scalar<std::int32_t>(place));
        const std::vector<std::int64_t> values = integers(in.scalar<std::int32_t>(place));
        if (static_cast<std::int64_t>(values.size()) != channels) refuse("a bias of another size");
        Value value{info.name, ValueKind::kParameter, ElementType::kInt32, Shape{channels}};
        value.data =
            std::make_shared<const Tensor>(from_integers(ElementType::kInt32, {channels}, values));
        Quantisation q;
        const std::vector<float>& scales = graph_.value(operands[1]).quantisation->scale;
        for (const float s : scales)
            q.scale.push_back(s * graph_.value(operands[0]).quantisation->scale.at(0));
        q.zero_point.assign(q.scale.size(), 0);
        if (q.scale.size() > 1) q.axis = 0;
        value.quantisation = std::move(q);
        operands.push_back(graph_.add(std::move(value)));
    }

    void read_convolution(const Table& op, const Table& options, std::int32_t x, std::int32_t w,
                          std::int32_t y, bool depthwise) {
        const Shape in = tensor(x).shape, filter = tensor(w).shape;
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
        std::vector<ValueId> operands = {value_of(x),
                                         weights(w, {outputs, depth, filter[1], filter[2]},
                                                 depthwise ? std::vector<std::size_t>{3, 0, 1, 2}
                                                           : std::vector<std::size_t>{0, 3, 1, 2},
                                                 depthwise ? 3 : 0)};
        add_bias(op, 2, operands, outputs);
        add_fused(Operator::kConv, operands, y, options.scalar<std::int8_t>(3 + more, 0),
                  {{"pads", pads(options.scalar<std::int8_t>(0, 0), in, kernel, stride, dilation)},
                   {"strides", stride},
                   {"dilations", dilation},
                   {"group", in[3] / depth}});
    }

    void read_fully_connected(const Table& op, const Table& options, std::int32_t x, std::int32_t w,
                              std::int32_t y) {
        if (options.scalar<std::int8_t>(1, 0) != 0) refuse("shuffled weights");
        const Shape filter = tensor(w).shape;
        if (filter.size() != 2) refuse("weights that are no matrix");
        Shape flat = tensor(x).flat;
        ValueId from = value_of(x);
        const Shape in = tensor(x).shape;
        if (in.size() == 4) {
            flat = {in[3], in[1], in[2]};
            from = flatten(x, tensor(x).name + ".flat");
        }
        if (in.size() == 3) refuse("rows of three dimensions");
        const ValueId matrix = weights(w, filter, {}, 0);
        if (!flat.empty() && flat[1] * flat[2] > 1) {
            // The file's order is h, w, c; the graph's c, h, w.
            Tensor turned = *graph_.value(matrix).data;
            const std::int64_t area = flat[1] * flat[2], depth = filter[1];
            if (area * flat[0] != depth) refuse("weights for another image");
            const std::span<const std::int8_t> old = graph_.value(matrix).data->as<std::int8_t>();
            for (std::int64_t k = 0; k < filter[0]; ++k)
                for (std::int64_t i = 0; i < depth; ++i)
                    turned.as<std::int8_t>()[static_cast<std::size_t>(k * depth + i)] =
                        old[static_cast<std::size_t>(k * depth + i % area * flat[0] + i / area)];
            graph_.values[matrix].data = std::make_shared<const Tensor>(std::move(turned));
        }
        std::vector<ValueId> operands = {from, matrix};
        add_bias(op, 2, operands, filter[0]);
        if (tensor(y).shape.size() != 2) refuse("a result that is no matrix");
        add_fused(Operator::kGemm, operands, y, options.scalar<std::int8_t>(0, 0),
                  {{"transB", std::int64_t{1}}});
    }

    ValueId flatten(std::int32_t x, const std::string& name) {
        Value value = graph_.value(value_of(x));
        value.name = name;
        value.kind = ValueKind::kComputed;
        value.data = nullptr;
        const Shape s = *value.shape;
        value.shape = Shape{s[0], s[1] * s[2] * s[3]};
        const ValueId from = value_of(x), id = graph_.add(std::move(value));
        add_node(Operator::kFlatten, {from}, id, {{"axis", std::int64_t{1}}});
        return id;
    }

    void read_reshape(std::int32_t x, std::int32_t y) {
        const Shape from = tensor(x).shape, to = tensor(y).shape;
        if (element_count(from) != element_count(to)) refuse("a reshape to another size");
        if (!tensor(x).flat.empty() && to.size() == 4)
            refuse("a flattened image as an image again");
        const bool image = from.size() == 4 && from[1] * from[2] > 1 && from[3] > 1;
        if (image && to.size() == 2 && to[0] == from[0]) {
            TensorInfo& out = tensor(y);
            out.value = flatten(x, out.name);
            out.flat = {from[3], from[1], from[2]};
            return;
        }
        const bool to_image = to.size() == 4 && to[1] * to[2] > 1 && to[3] > 1;
        if (image || to_image) refuse("a reshape that moves an image's channels");
        const Shape shape = to_graph(to);
        const ValueId out = add_value(y, ValueKind::kComputed);
        tensor(y).flat = tensor(x).flat;
        add_node(Operator::kReshape,
                 {value_of(x), constant(fmt::format("shape{}", graph_.values.size()),
                                        make_tensor({static_cast<std::int64_t>(shape.size())},
                                                    std::span<const std::int64_t>(shape)))},
                 out);
    }

    void read_mean(const Table& options, std::int32_t x, std::int32_t axes_tensor, std::int32_t y) {
        std::vector<std::int64_t> axes = integers(axes_tensor);
        for (std::int64_t& axis : axes) axis = axis < 0 ? axis + 4 : axis;
        std::sort(axes.begin(), axes.end());
        if (tensor(x).shape.size() != 4 || axes != std::vector<std::int64_t>{1, 2})
            refuse("a mean that is not over an image");
        const Shape in = to_graph(tensor(x).shape);
        const ValueId result = add_value(y, ValueKind::kComputed);
        if (options.scalar<std::uint8_t>(0, 0) != 0)
            return add_node(Operator::kGlobalAveragePool, {value_of(x)}, result);
        Value value = graph_.value(result);
        value.name += ".mean";
        value.shape = Shape{in[0], in[1], 1, 1};
        const ValueId mean = graph_.add(std::move(value));
        add_node(Operator::kGlobalAveragePool, {value_of(x)}, mean);
        add_node(Operator::kFlatten, {mean}, result, {{"axis", std::int64_t{1}}});
    }

    /// Height and width of a result, which stand in a constant and in the result's shape.
    Shape resized(std::int32_t x, std::int32_t size, std::int32_t y) {
        const Shape in = tensor(x).shape, out = tensor(y).shape;
        if (in.size() != 4 || out.size() != 4) refuse("a resize of no image");
        if (integers(size) != std::vector<std::int64_t>{out[1], out[2]} || in[0] != out[0] ||
            in[3] != out[3])
            refuse("a size that is not its result's");
        return to_graph(out);
    }

    /// Rows, then columns.
    void read_resize_nearest(const Table& options, std::int32_t x, std::int32_t size,
                             std::int32_t y) {
        const numerics::ResizeAxis::Mode mode{
            .half_pixels = options.scalar<std::uint8_t>(1, 0) != 0,
            .corners = options.scalar<std::uint8_t>(0, 0) != 0};
        const Shape out = resized(x, size, y), in = to_graph(tensor(x).shape);
        ValueId from = value_of(x);
        const ValueId result = add_value(y, ValueKind::kComputed);
        for (const std::size_t d : {2, 3}) {
            const numerics::ResizeAxis axis(in[d], out[d], mode);
            std::vector<std::int64_t> indices;
            for (std::int64_t o = 0; o < out[d]; ++o) indices.push_back(axis.at(o).low);
            Value value = graph_.value(result);
            value.name += ".rows";
            value.shape = Shape{in[0], in[1], out[2], in[3]};
            const ValueId to = d == 3 ? result : graph_.add(std::move(value));
            add_node(
                Operator::kGather,
                {from, constant(fmt::format("indices{}", graph_.values.size()),
                                make_tensor({out[d]}, std::span<const std::int64_t>(indices)))},
                to, {{"axis", static_cast<std::int64_t>(d)}});
            from = to;
        }
    }

    void read_resize_bilinear(const Table& options, std::int32_t x, std::int32_t size,
                              std::int32_t y) {
        const Shape out = resized(x, size, y);
        const bool corners = options.scalar<std::uint8_t>(2, 0) != 0,
                   half = options.scalar<std::uint8_t>(3, 0) != 0;
        if (corners && half) refuse("half_pixel_centers with align_corners");
        const ValueId from = value_of(x);
        add_node(Operator::kResizeBilinear, {from}, add_value(y, ValueKind::kComputed),
                 {{"size", std::vector<std::int64_t>{out[2], out[3]}},
                  {"align_corners", std::int64_t{corners}},
                  {"half_pixel_centers", std::int64_t{half}}});
    }

    /// A convolution, with the filters turned around, over the image with stride - 1 zeros after
    /// each element. Its padding is that of the convolution from the result to the input.
    void read_transposed_convolution(const Table& op, const Table& options) {
        const Vector operands_of = op.vector(1, 4);
        if (operands_of.size() < 3) refuse("a missing operand");
        const auto w = operands_of.scalar<std::int32_t>(1), x = operands_of.scalar<std::int32_t>(2),
                   y = op.vector(2, 4).scalar<std::int32_t>(0);
        const Shape in = tensor(x).shape, filter = tensor(w).shape, out = tensor(y).shape;
        if (in.size() != 4 || filter.size() != 4 || out.size() != 4 || filter[3] != in[3] ||
            filter[0] != out[3] || in[0] != out[0])
            refuse("a transposed convolution whose shapes do not fit");
        if (integers(operands_of.scalar<std::int32_t>(0)) != out)
            refuse("an output shape that is not its result's");
        if (!tensor(x).flat.empty()) refuse("of a reshaped image");
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
        const ValueId from = value_of(x);
        const ValueId filters =
            weights(w, {filter[0], filter[3], filter[1], filter[2]}, {0, 3, 1, 2}, 0);
        Tensor backwards = *graph_.value(filters).data;
        const std::int64_t taps = kernel[0] * kernel[1];
        const std::span<std::int8_t> values = backwards.as<std::int8_t>();
        for (std::int64_t f = 0; f < filter[0] * filter[3]; ++f)
            std::reverse(values.begin() + f * taps, values.begin() + (f + 1) * taps);
        graph_.values[filters].data = std::make_shared<const Tensor>(std::move(backwards));
        std::vector<ValueId> operands = {from, filters};
        add_bias(op, 3, operands, filter[0]);
        add_fused(Operator::kConv, operands, y, options.scalar<std::int8_t>(3, 0),
                  {{"pads", turned}, {"upsample", stride}});
    }

    void read_pad(std::int32_t x, std::int32_t amounts, std::int32_t y) {
        const std::vector<std::int64_t> by = integers(amounts);
        if (tensor(x).shape.size() != 4 || by.size() != 8) refuse("padding of no image");
        std::vector<std::int64_t> pads(8);
        for (std::int64_t d = 0; d < 4; ++d)
            for (std::int64_t side = 0; side < 2; ++side)
                pads[static_cast<std::size_t>(side * 4 + axis_to_graph(d, 4))] =
                    by[static_cast<std::size_t>(2 * d + side)];
        add_node(Operator::kPad,
                 {value_of(x), constant(fmt::format("pads{}", graph_.values.size()),
                                        make_tensor({8}, std::span<const std::int64_t>(pads)))},
                 add_value(y, ValueKind::kComputed));
    }

    /// A table of no fields: its fields' places, then the way back to them.
    static Table no_options() {
        static const std::uint8_t kEmpty[] = {4, 0, 4, 0, 4, 0, 0, 0};
        static const Bytes kNoOptions{kEmpty, "no options"};
        return Table(kNoOptions, 4);
    }

    void read_operator(const Table& op, std::size_t number, std::int32_t& code) {
        operator_ = number;
        code = code_of(op);
        const Vector in = op.vector(1, 4), out = op.vector(2, 4);
        if (in.size() == 0 || out.size() != 1)
            refuse("another number of operands than it is read with");
        if (code == kTransposeConv)
            return read_transposed_convolution(op, op.table(4).value_or(no_options()));
        const auto x = in.scalar<std::int32_t>(0), y = out.scalar<std::int32_t>(0);
        const auto second = [&] {
            if (in.size() < 2) refuse("a missing operand");
            return in.scalar<std::int32_t>(1);
        };
        if (code != kFullyConnected && code != kReshape && !tensor(x).flat.empty())
            refuse("of a reshaped image");
        const Table options = op.table(4).value_or(no_options());
        const std::size_t rank = tensor(x).shape.size();
        switch (code) {
            case kConv:
            case kDepthwiseConv:
                return read_convolution(op, options, x, second(), y, code == kDepthwiseConv);
            case kFullyConnected:
                return read_fully_connected(op, options, x, second(), y);
            case kAdd:
            case kSub:
            case kMul:
                return add_fused(code == kAdd   ? Operator::kAdd
                                 : code == kSub ? Operator::kSub
                                                : Operator::kMul,
                                 {value_of(x), value_of(second())}, y,
                                 options.scalar<std::int8_t>(0, 0));
            case kAveragePool:
            case kMaxPool: {
                if (rank != 4) refuse("pooling of no image");
                const std::vector<std::int64_t> stride = {options.scalar<std::int32_t>(2, 0),
                                                          options.scalar<std::int32_t>(1, 0)},
                                                kernel = {options.scalar<std::int32_t>(4, 0),
                                                          options.scalar<std::int32_t>(3, 0)};
                return add_fused(code == kMaxPool ? Operator::kMaxPool : Operator::kAveragePool,
                                 {value_of(x)}, y, options.scalar<std::int8_t>(5, 0),
                                 {{"kernel_shape", kernel},
                                  {"strides", stride},
                                  {"pads", pads(options.scalar<std::int8_t>(0, 0), tensor(x).shape,
                                                kernel, stride, {1, 1})}});
            }
            case kConcatenation: {
                std::vector<ValueId> parts;
                for (std::size_t i = 0; i < in.size(); ++i)
                    parts.push_back(value_of(in.scalar<std::int32_t>(i)));
                return add_fused(
                    Operator::kConcat, parts, y, options.scalar<std::int8_t>(1, 0),
                    {{"axis", axis_to_graph(options.scalar<std::int32_t>(0, 0), rank)}});
            }
            case kSoftmax:
                if (options.scalar<float>(0, 1) != 1) refuse("a softmax with a factor");
                return add_node(Operator::kSoftmax, {value_of(x)},
                                add_value(y, ValueKind::kComputed),
                                {{"axis", axis_to_graph(-1, rank)}});
            case kLogistic:
                return add_node(Operator::kSigmoid, {value_of(x)},
                                add_value(y, ValueKind::kComputed));
            case kTanh:
                return add_node(Operator::kTanh, {value_of(x)}, add_value(y, ValueKind::kComputed));
            case kHardSwish:
                return add_node(Operator::kHardSwish, {value_of(x)},
                                add_value(y, ValueKind::kComputed));
            case kLeakyRelu:
                return add_node(Operator::kLeakyRelu, {value_of(x)},
                                add_value(y, ValueKind::kComputed),
                                {{"alpha", options.scalar<float>(0, 0)}});
            case kRelu:
            case kRelu6: {
                const ValueId from = value_of(x);
                return add_clip(from, add_value(y, ValueKind::kComputed), code == kRelu ? 1 : 3);
            }
            case kReshape:
            case kSqueeze:
                return read_reshape(x, y);
            case kMean:
                return read_mean(options, x, second(), y);
            case kPad:
                return read_pad(x, second(), y);
            case kResizeNearest:
                return read_resize_nearest(options, x, second(), y);
            case kResizeBilinear:
                return read_resize_bilinear(options, x, second(), y);
            case kQuantize:
                if (tensor(x).type == kFloat32 && tensor(y).value != kNoValue) return;
                return add_node(Operator::kClip, {value_of(x)}, add_value(y, ValueKind::kComputed));
            case kDequantize:
                if (std::find(outputs_.begin(), outputs_.end(), x) != outputs_.end()) return;
                refuse("floats within the model");
            default:
                refuse("the reader does not know it");
        }
    }

    const Bytes& bytes_;
    Vector buffers_, codes_;
    std::vector<TensorInfo> tensors_;
    std::vector<std::int32_t> outputs_;
    std::size_t operator_ = 0;
    Graph graph_;
};

}  // namespace

Graph parse_tflite(std::span<const std::uint8_t> bytes, const std::string& name) {
    const Bytes file{bytes, name};
    Graph graph = Reader(file).read();
    infer_shapes(graph);
    return graph;
}

Graph read_tflite(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw InputError(fmt::format("{}: cannot be read", file.string()));
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream),
                                  std::istreambuf_iterator<char>()};
    return parse_tflite({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                        file.string());
}

}  // namespace lockstep::network
