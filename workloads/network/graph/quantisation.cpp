// SPDX-License-Identifier: Apache-2.0
// Scales and zero points. Source: Jacob et al., "Quantization and Training of Neural Networks for
// Efficient Integer-Arithmetic-Only Inference" (2018), sections 2.1 and 3; the ONNX operator
// reference, QuantizeLinear. What few bits cut off of a weight: Banner et al., "Post training 4-bit
// quantization of convolutional networks for rapid-deployment" (2019), by search in place of its
// formula.
#include "workloads/network/graph/quantisation.h"

#include <algorithm>
#include <cmath>

#include "sim/error/error.h"

namespace lockstep::network {

namespace {

/// Calls f(element, slice) for all elements.
template <class F>
void for_each_slice(const Shape& shape, const Quantisation& quantisation, F&& f) {
    const auto count = static_cast<std::size_t>(element_count(shape));
    std::size_t after = 1, slices = 1;
    if (quantisation.axis) {
        const auto axis = static_cast<std::size_t>(*quantisation.axis);
        for (std::size_t d = axis + 1; d < shape.size(); ++d)
            after *= static_cast<std::size_t>(shape[d]);
        slices = static_cast<std::size_t>(shape.at(axis));
    } else {
        after = count;
    }
    for (std::size_t i = 0; i < count;)
        for (std::size_t slice = 0; slice < slices; ++slice)
            for (const std::size_t end = i + after; i < end; ++i) f(i, slice);
}

/// Calls f(values) with the tensor's values: fp32 as they are, others as doubles.
template <class F>
void with_values(const Tensor& real, F&& f) {
    if (real.type == ElementType::kFp32)
        f(real.as<float>());
    else
        f(std::span<const double>(to_doubles(real)));
}

template <class Stored, class Real>
void quantise_into(std::span<Stored> stored, std::span<const Real> values, const Shape& shape,
                   const Quantisation& quantisation, numerics::IntegerRange range) {
    for_each_slice(shape, quantisation, [&](std::size_t i, std::size_t slice) {
        const double steps = std::nearbyint(double{values[i]} / double{quantisation.scale[slice]}) +
                             quantisation.zero_point[slice];
        // NaN becomes the lowest value.
        stored[i] = steps > range.low ? static_cast<Stored>(std::min<double>(steps, range.high))
                                      : static_cast<Stored>(range.low);
    });
}

/// Makes scales smaller where that brings the stored values nearer to the weight.
void cut_off(Quantisation& q, const Tensor& weight, float most) {
    constexpr int kSteps = 40;
    const std::vector<float> covering = q.scale;
    std::vector<double> least(covering.size(), -1);
    for (int step = kSteps; step > kSteps / 8; --step) {
        std::vector<double> error(covering.size(), 0);
        const float share = static_cast<float>(step) / kSteps;
        with_values(weight, [&](auto values) {
            for_each_slice(weight.shape, q, [&](std::size_t i, std::size_t slice) {
                const float scale = covering[slice] * share, x = static_cast<float>(values[i]);
                const float stored = std::clamp(std::nearbyint(x / scale), -most, most);
                error[slice] += double{x - stored * scale} * double{x - stored * scale};
            });
        });
        for (std::size_t slice = 0; slice < error.size(); ++slice)
            if (least[slice] < 0 || error[slice] < least[slice]) {
                least[slice] = error[slice];
                q.scale[slice] = covering[slice] * share;
            }
    }
}

}  // namespace

numerics::IntegerRange range_of(ElementType type) {
    switch (type) {
        case ElementType::kInt8:
            return {INT8_MIN, INT8_MAX};
        case ElementType::kUint8:
            return {0, UINT8_MAX};
        case ElementType::kInt16:
            return {INT16_MIN, INT16_MAX};
        case ElementType::kInt32:
            return {INT32_MIN, INT32_MAX};
        default:
            LOCKSTEP_CHECK(false, "{} is not quantised", name_of(type));
    }
}

numerics::IntegerRange range_of(ElementType type, int bits) {
    if (bits == 0) return range_of(type);
    const std::int32_t half = 1 << (bits - 1);
    return {-half, half - 1};
}

int bits_of(const Value& value) {
    const int bits = value.quantisation ? value.quantisation->bits : 0;
    return bits != 0 ? bits : static_cast<int>(8 * size_of(value.type));
}

Tensor quantise(const Tensor& real, const Quantisation& quantisation, ElementType type) {
    Tensor tensor(type, real.shape);
    const numerics::IntegerRange range = range_of(type, quantisation.bits);
    with_values(real, [&](auto values) {
        if (type == ElementType::kInt8)
            quantise_into(tensor.as<std::int8_t>(), values, real.shape, quantisation, range);
        else if (type == ElementType::kUint8)
            quantise_into(tensor.as<std::uint8_t>(), values, real.shape, quantisation, range);
        else if (type == ElementType::kInt16)
            quantise_into(tensor.as<std::int16_t>(), values, real.shape, quantisation, range);
        else
            quantise_into(tensor.as<std::int32_t>(), values, real.shape, quantisation, range);
    });
    return tensor;
}

Tensor dequantise(const Tensor& stored, const Quantisation& quantisation) {
    const std::vector<std::int64_t> values = to_integers(stored);
    std::vector<double> real(values.size());
    for_each_slice(stored.shape, quantisation, [&](std::size_t i, std::size_t slice) {
        real[i] = double{quantisation.scale[slice]} *
                  static_cast<double>(values[i] - quantisation.zero_point[slice]);
    });
    return from_doubles(ElementType::kFp32, stored.shape, real);
}

Quantisation quantisation_of(float low, float high, bool symmetric, ElementType type, int bits) {
    low = std::min(low, 0.0f);
    high = std::max(high, 0.0f);
    // A tensor of zeros, or one that never ran.
    if (!(high - low > 0) || !std::isfinite(high - low))
        return {{1}, {0}, std::nullopt, bits == 8 ? 0 : bits};
    const bool wide = type == ElementType::kInt16;
    const auto most = static_cast<float>((1 << (bits - 1)) - 1);
    if (symmetric || wide)
        return {{std::max(-low, high) / (wide ? 32767.0f : most)},
                {0},
                std::nullopt,
                bits == 8 ? 0 : bits};
    const auto half = static_cast<float>(1 << (bits - 1));
    const float scale = (high - low) / (2 * half - 1);
    const auto zero = static_cast<std::int32_t>(std::nearbyint(-half - low / scale));
    const auto limit = static_cast<std::int32_t>(half);
    return {{scale}, {std::clamp(zero, -limit, limit - 1)}, std::nullopt, bits == 8 ? 0 : bits};
}

Quantisation weight_quantisation(const Value& weight, std::optional<std::int64_t> axis, int bits) {
    Quantisation q;
    q.axis = axis;
    q.bits = bits == 8 ? 0 : bits;
    const auto most = static_cast<float>((1 << (bits - 1)) - 1);
    const std::int64_t slices = axis ? weight.shape->at(static_cast<std::size_t>(*axis)) : 1;
    std::vector<float> largest(static_cast<std::size_t>(slices), 0);
    if (weight.is_known())
        with_values(*weight.data, [&](auto values) {
            for_each_slice(*weight.shape, q, [&](std::size_t i, std::size_t slice) {
                largest[slice] = std::max(largest[slice], static_cast<float>(std::abs(values[i])));
            });
        });
    for (const float limit : largest) q.scale.push_back(limit > 0 ? limit / most : 1);
    q.zero_point.assign(largest.size(), 0);
    if (bits < 8 && weight.is_known()) cut_off(q, *weight.data, most);
    return q;
}

bool is_quantised(const Graph& graph, const Node& node) {
    return !node.outputs.empty() && node.outputs[0] != kNoValue &&
           graph.value(node.outputs[0]).quantisation.has_value() &&
           node.op != Operator::kQuantizeLinear;
}

std::vector<double> requantisation_scales(const Graph& graph, const Node& product) {
    const auto scales = [&](ValueId id) -> const std::vector<float>& {
        const Value& value = graph.value(id);
        LOCKSTEP_CHECK(value.quantisation.has_value(), "{} has no scale", value.name);
        return value.quantisation->scale;
    };
    std::vector<double> result;
    for (const float weight : scales(product.inputs.at(1)))
        result.push_back(double{scales(product.inputs.at(0)).at(0)} * weight /
                         scales(product.outputs.at(0)).at(0));
    return result;
}

}  // namespace lockstep::network
