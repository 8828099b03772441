// SPDX-License-Identifier: Apache-2.0
// Source: TensorFlow Lite's reference kernels; see tflite.h.
#include "workloads/network/reference/tflite.h"

#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/reference/integer.h"

namespace lockstep::network {

namespace {

using numerics::FixedPointScale;
using numerics::IntegerRange;
using numerics::IntegerRounding;

/// The operand's and the result's scales, and the function of one stored value.
class Table {
  public:
    Table(const Graph& graph, const Node& node, IntegerRounding rounding)
        : graph_(graph),
          node_(node),
          in_(graph.value(node.inputs.at(0))),
          out_(graph.value(node.outputs.at(0))),
          from_(*in_.quantisation),
          to_(*out_.quantisation),
          range_(range_of(in_.type, from_.bits)),
          limits_(range_of(out_.type, to_.bits)),
          rounding_(rounding) {}

    std::vector<std::int32_t> make() const {
        switch (node_.op) {
            case Operator::kRelu:
                return clipped(0, std::nullopt);
            case Operator::kClip:
                return clipped(bound(1), bound(2));
            case Operator::kLeakyRelu:
                return leaky();
            case Operator::kSigmoid:
                if (to_.scale[0] == 1.0f / 256 && to_.zero_point[0] == -128 && bytes())
                    return sigmoid();
                return {};
            case Operator::kHardSwish:
                return bytes() ? hard_swish() : std::vector<std::int32_t>{};
            default:
                return {};
        }
    }

  private:
    bool bytes() const { return bits_of(in_) == 8 && bits_of(out_) == 8; }

    template <class F>
    std::vector<std::int32_t> for_all(F&& f) const {
        std::vector<std::int32_t> table;
        for (std::int32_t q = range_.low; q <= range_.high; ++q)
            table.push_back(numerics::saturate(f(q - from_.zero_point[0]), limits_));
        return table;
    }

    std::optional<float> bound(std::size_t i) const {
        const ValueId id = node_.input(i);
        if (id == kNoValue) return std::nullopt;
        const Value& value = graph_.value(id);
        if (!value.is_known())
            throw InputError(fmt::format("node {}: {} is not known", node_.name, value.name));
        return static_cast<float>(to_doubles(*value.data).at(0));
    }

    std::int64_t stored(std::optional<float> real, std::int32_t otherwise) const {
        if (!real || !std::isfinite(*real)) return otherwise;
        return to_.zero_point[0] + std::llround(*real / to_.scale[0]);
    }

    std::vector<std::int32_t> clipped(std::optional<float> low, std::optional<float> high) const {
        const std::int64_t least = std::max<std::int64_t>(stored(low, limits_.low), limits_.low);
        const std::int64_t most = std::min<std::int64_t>(stored(high, limits_.high), limits_.high);
        const FixedPointScale scale =
            numerics::fixed_point_scale(double{from_.scale[0] / to_.scale[0]});
        const bool same = from_.scale[0] == to_.scale[0];
        return for_all([&](std::int32_t q) {
            const std::int64_t y = same ? q : numerics::multiply(q, scale, rounding_);
            return std::min(std::max(y + to_.zero_point[0], least), most);
        });
    }

    std::vector<std::int32_t> leaky() const {
        const float alpha = node_.real("alpha", 0.01f);
        const FixedPointScale positive = numerics::fixed_point_scale(
                                  double{from_.scale[0] / to_.scale[0]}),
                              negative = numerics::fixed_point_scale(
                                  std::abs(double{from_.scale[0] * alpha / to_.scale[0]}));
        return for_all([&](std::int32_t q) {
            const std::int64_t scaled =
                numerics::multiply(q, q < 0 ? negative : positive, rounding_);
            return (q < 0 && alpha < 0 ? -scaled : scaled) + to_.zero_point[0];
        });
    }

    std::vector<std::int32_t> sigmoid() const {
        const FixedPointScale scale = numerics::fixed_point_scale(std::ldexp(from_.scale[0], 27));
        const std::int32_t radius = numerics::input_radius(4, 31 - scale.shift);
        return for_all([&](std::int32_t q) -> std::int64_t {
            if (q <= -radius) return -128;
            if (q >= radius) return 127;
            const auto x =
                static_cast<std::int32_t>(numerics::multiply(q, scale, IntegerRounding::kDouble));
            return numerics::shift_right(numerics::logistic(x), 23, IntegerRounding::kAway) - 128;
        });
    }

    // In 16 bits, as gemmlowp's instructions for Arm have it.
    static std::int32_t to_16(FixedPointScale scale) {
        return scale.multiplier >= INT32_MAX - (1 << 15) ? INT16_MAX
                                                         : (scale.multiplier + (1 << 15)) >> 16;
    }
    static std::int32_t rounded_high_16(std::int32_t a, std::int32_t b) {
        const std::int32_t product = a * b;
        return a == INT16_MIN && b == INT16_MIN
                   ? INT16_MAX
                   : (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
    }

    std::vector<std::int32_t> hard_swish() const {
        const IntegerRange wide{INT16_MIN, INT16_MAX};
        const float fine = from_.scale[0] / 128;
        const FixedPointScale out = numerics::fixed_point_scale(double{fine / to_.scale[0]}),
                              relu = numerics::fixed_point_scale(double{fine / (3.0f / 32768.0f)});
        const std::int32_t out_16 = to_16(out), relu_16 = to_16(relu);
        const std::int32_t exponent = 31 - relu.shift, out_shift = out.shift - 31;
        if (out_shift < 0)
            throw InputError(fmt::format("node {}: HardSwish of a scale {} times the result's",
                                         node_.name, fine / to_.scale[0]));
        return for_all([&](std::int32_t q) -> std::int64_t {
            const std::int32_t value = q * 128;
            const std::int32_t before = rounded_high_16(value, out_16);
            std::int32_t gate = value;
            if (exponent > 0) gate = numerics::saturate(int64_t{gate} << (exponent - 1), wide);
            gate = rounded_high_16(gate, relu_16);
            if (exponent > 0) gate = numerics::saturate(int64_t{gate} << 1, wide);
            if (exponent < 0)
                gate = static_cast<std::int32_t>(
                    numerics::shift_right(gate, -exponent, IntegerRounding::kAway));
            gate = (gate + 32768) >> 1;
            const std::int32_t product = (gate * before) >> 15;
            return numerics::shift_right(product, out_shift, IntegerRounding::kAway) +
                   to_.zero_point[0];
        });
    }

    const Graph& graph_;
    const Node& node_;
    const Value &in_, &out_;
    const Quantisation &from_, &to_;
    const IntegerRange range_, limits_;
    const IntegerRounding rounding_;
};

}  // namespace

bool is_tflite(Requantisation requantisation) {
    return requantisation == Requantisation::kTfLite ||
           requantisation == Requantisation::kTfLiteAway ||
           requantisation == Requantisation::kTfLiteEven;
}

numerics::IntegerRounding rounding_of(Requantisation requantisation) {
    switch (requantisation) {
        case Requantisation::kTfLite:
            return IntegerRounding::kDouble;
        case Requantisation::kTfLiteAway:
            return IntegerRounding::kAway;
        case Requantisation::kTfLiteEven:
            return IntegerRounding::kEven;
        default:
            return IntegerRounding::kUp;
    }
}

std::vector<std::int32_t> tflite_table(const Graph& graph, const Node& node,
                                       IntegerRounding rounding) {
    return Table(graph, node, rounding).make();
}

bool divides_stored_values(const Graph& graph, const Node& node) {
    return node.op == Operator::kAveragePool && graph.value(node.inputs.at(0)).quantisation ==
                                                    graph.value(node.outputs.at(0)).quantisation;
}

std::int64_t divide_rounded(std::int64_t sum, std::int64_t count) {
    return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

numerics::SoftmaxScale softmax_scale_of(const Graph& graph, const Node& node) {
    return numerics::softmax_scale(
        double{graph.value(node.inputs.at(0)).quantisation->scale.at(0)});
}

}  // namespace lockstep::network
