// SPDX-License-Identifier: Apache-2.0
// Source: tensorflow/lite/schema/schema.fbs.
#include "workloads/network/tflite/model.h"

#include <cmath>
#include <cstring>

namespace lockstep::network::tflite {

void refuse(const std::string& reason) {
    throw Unsupported(reason);
}

Shape to_graph(const Shape& s) {
    return s.size() == 4 ? Shape{s[0], s[3], s[1], s[2]} : s;
}

std::int64_t axis_to_graph(std::int64_t axis, std::size_t rank) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    constexpr std::int64_t kPlace[] = {0, 2, 3, 1};
    return rank == 4 && axis >= 0 && axis < 4 ? kPlace[axis] : axis;
}

TensorInfo& Model::tensor(std::int32_t index) {
    if (index < 0 || static_cast<std::size_t>(index) >= tensors_.size())
        throw InputError(fmt::format("{}: no tensor {}", bytes_.name, index));
    return tensors_[static_cast<std::size_t>(index)];
}

void Model::read_tensors(const Vector& tensors, const Vector& buffers) {
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
        if (buffer >= buffers.size() && buffer != 0)
            bytes_.fail(t.offset(), fmt::format("tensor {} has no buffer {}", info.name, buffer));
        if (buffer < buffers.size()) info.data = buffers.table(buffer).vector(0, 1).bytes();
        if (const auto q = t.table(4)) read_quantisation(*q, info);
        tensors_.push_back(std::move(info));
    }
}

void Model::read_quantisation(const Table& table, TensorInfo& info) {
    const Vector scales = table.vector(2, 4), zeros = table.vector(3, 8);
    if (scales.size() == 0) return;
    Quantisation q;
    for (std::size_t i = 0; i < scales.size(); ++i) {
        q.scale.push_back(scales.scalar<float>(i));
        const std::int64_t zero = i < zeros.size() ? zeros.scalar<std::int64_t>(i) : 0;
        if (!(q.scale.back() > 0) || !std::isfinite(q.scale.back()) || zero < -128 || zero > 127)
            bytes_.fail(table.offset(), fmt::format("tensor {}: scale {}, zero point {}", info.name,
                                                    q.scale.back(), zero));
        q.zero_point.push_back(static_cast<std::int32_t>(zero));
    }
    if (scales.size() > 1) q.axis = table.scalar<std::int32_t>(6, 0);
    info.quantisation = std::move(q);
}

ValueId Model::add_value(std::int32_t t, ValueKind kind) {
    TensorInfo& info = tensor(t);
    if (info.type != kInt8 || !info.quantisation || info.quantisation->axis)
        refuse(fmt::format("tensor {} is not int8 with one scale", info.name));
    Value value{info.name, kind, ElementType::kInt8, to_graph(info.shape)};
    value.quantisation = info.quantisation;
    return info.value = graph_.add(std::move(value));
}

ValueId Model::value_of(std::int32_t t) {
    TensorInfo& info = tensor(t);
    if (info.value != kNoValue) return info.value;
    if (info.data.empty()) refuse(fmt::format("tensor {} is read before it is written", info.name));
    add_value(t, ValueKind::kConstant);
    Value& value = graph_.values[info.value];
    Tensor data(ElementType::kInt8, *value.shape);
    copy_bytes(
        info, data,
        info.shape.size() == 4 ? std::vector<std::size_t>{0, 3, 1, 2} : std::vector<std::size_t>{});
    value.data = std::make_shared<const Tensor>(std::move(data));
    return info.value;
}

std::vector<std::int64_t> Model::integers(std::int32_t t) {
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

ValueId Model::constant(std::string name, Tensor tensor_value) {
    Value value{std::move(name), ValueKind::kConstant, tensor_value.type, tensor_value.shape};
    value.data = std::make_shared<const Tensor>(std::move(tensor_value));
    return graph_.add(std::move(value));
}

void Model::add_node(Operator op, std::vector<ValueId> inputs, ValueId out, Attributes attributes) {
    graph_.nodes.push_back({fmt::format("op{}.{}", operator_, graph_.nodes.size()),
                            op,
                            std::move(inputs),
                            {out},
                            std::move(attributes)});
}

void Model::add_fused(Operator op, std::vector<ValueId> inputs, std::int32_t out,
                      std::int8_t activation, Attributes attributes) {
    const ValueId result = add_value(out, ValueKind::kComputed);
    if (activation == 0) return add_node(op, std::move(inputs), result, std::move(attributes));
    Value value = graph_.value(result);
    value.name += ".sum";
    const ValueId sum = graph_.add(std::move(value));
    add_node(op, std::move(inputs), sum, std::move(attributes));
    add_clip(sum, result, activation);
}

void Model::add_clip(ValueId from, ValueId to, std::int8_t activation) {
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

ValueId Model::flatten(std::int32_t x, const std::string& name) {
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

void Model::copy_bytes(const TensorInfo& info, Tensor& to, const std::vector<std::size_t>& perm) {
    const auto count = static_cast<std::size_t>(element_count(info.shape));
    if (info.data.size() != count)
        throw InputError(fmt::format("{}: tensor {} has {} bytes, not {}", bytes_.name, info.name,
                                     info.data.size(), count));
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

}  // namespace lockstep::network::tflite
