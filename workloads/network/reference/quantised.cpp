// SPDX-License-Identifier: Apache-2.0
// Quantised graphs in exact integers. Integer machines multiply bytes and add into 32 bits; the
// products here run in doubles, which hold such sums exactly, so that one convolution serves all
// types. Source: Jacob et al. (2018), section 2; see quantised.h for what is rounded where.
#include "workloads/network/reference/quantised.h"

#include <cmath>

#include "sim/error/error.h"
#include "sim/numerics/resize.h"
#include "workloads/network/reference/integer.h"
#include "workloads/network/reference/local_response.h"
#include "workloads/network/reference/tflite.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::reference {

template <class Real>
Exact centred(const Array<Real>& x, std::span<const std::int64_t> zero_point,
              std::optional<std::size_t> axis) {
    Exact exact{x.shape, ElementType::kFp64, {}, {}};
    std::size_t after = 1;
    for (std::size_t d = axis.value_or(x.shape.size()) + 1; d < x.shape.size(); ++d)
        after *= static_cast<std::size_t>(x.shape[d]);
    exact.real.resize(x.integer.size());
    for (std::size_t i = 0; i < exact.real.size(); ++i) {
        const std::size_t slice = zero_point.size() == 1 ? 0 : i / after % zero_point.size();
        exact.real[i] = static_cast<double>(x.integer[i] - zero_point[slice]);
    }
    return exact;
}

template Exact centred(const Array<float>&, std::span<const std::int64_t>,
                       std::optional<std::size_t>);
template Exact centred(const Array<double>&, std::span<const std::int64_t>,
                       std::optional<std::size_t>);

namespace {

[[noreturn]] void refuse_quantised(const Node& node) {
    throw InputError(fmt::format("node {}: {} cannot be computed on quantised values", node.name,
                                 name_of(node.op)));
}

}  // namespace

Exact run_exactly(const Graph& graph, const Node& node, std::vector<const Exact*> in, Shape out) {
    Exact result{std::move(out), ElementType::kFp64, {}, {}};
    result.real.resize(static_cast<std::size_t>(element_count(result.shape)));
    const Step<double> step{graph, node, std::move(in), {&result}};
    if (!run_kernel(step)) refuse_quantised(node);
    return result;
}

void check_int32(const Node& node, double sum) {
    if (!(sum >= INT32_MIN && sum <= INT32_MAX))
        throw InputError(fmt::format("node {} ({}): the sum {} does not fit 32 bits", node.name,
                                     name_of(node.op), sum));
}

std::vector<std::int32_t> as_int32(const Node& node, const Exact& sums) {
    std::vector<std::int32_t> values(sums.real.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        check_int32(node, sums.real[i]);
        values[i] = static_cast<std::int32_t>(sums.real[i]);
    }
    return values;
}

namespace {

template <class Real>
class Quantised {
  public:
    explicit Quantised(const Step<Real>& step) : step_(step), node_(step.node) {
        const Value& out = step.graph.value(node_.outputs[0]);
        out_ = *out.quantisation;
        range_ = range_of(out.type, out_.bits);
        rounding_ = rounding_of(step.requantisation);
        if (out_.axis)
            throw InputError(fmt::format("node {}: its output has a scale a slice", node_.name));
    }

    void run() {
        switch (info_of(node_.op).integers) {
            case IntegerForm::kNone:
                refuse_quantised(node_);
            case IntegerForm::kRows:
                return node_.op == Operator::kLRN ? local_response() : softmax();
            case IntegerForm::kProduct:
                return product();
            case IntegerForm::kCombination:
                return combine();
            case IntegerForm::kTable:
                return look_up();
            case IntegerForm::kSameScale:
                if (node_.op == Operator::kResizeBilinear) return resize();
                return move();
            case IntegerForm::kSameValues:
                return node_.outputs.size() > 1 ? move_parts() : move();
        }
    }

  private:
    void combine() {
        switch (node_.op) {
            case Operator::kAdd:
                return add(1);
            case Operator::kSub:
                return add(-1);
            case Operator::kMul:
                return multiply();
            case Operator::kConcat:
                return move();
            default:
                LOCKSTEP_CHECK(info_of(node_.op).role == LayerRole::kPooling, "{}", node_.name);
                return average();
        }
    }

    void move_parts() {
        for (std::size_t i = 0; i < step_.out.size(); ++i) same_scale(i);
        run_kernel(step_);
    }

    const Quantisation& quantisation(std::size_t i) const {
        const Value& value = step_.graph.value(node_.inputs.at(i));
        if (!value.quantisation)
            throw InputError(fmt::format("node {}: {} has no scale", node_.name, value.name));
        return *value.quantisation;
    }
    double scale(std::size_t i) const { return quantisation(i).scale.at(0); }

    Exact centre(std::size_t i) const {
        const Quantisation& q = quantisation(i);
        std::optional<std::size_t> axis;
        if (q.axis) axis = static_cast<std::size_t>(*q.axis);
        return centred(*step_.in[i],
                       std::vector<std::int64_t>(q.zero_point.begin(), q.zero_point.end()), axis);
    }

    std::vector<std::int64_t>& y() const { return step_.out[0]->integer; }

    void product() {
        if (node_.real("alpha", 1) != 1 || node_.real("beta", 1) != 1)
            throw InputError(fmt::format("node {}: a quantised Gemm with a factor", node_.name));
        const Shape& shape = step_.out[0]->shape;
        std::size_t after = 1;  // elements from one channel to the next
        for (std::size_t d = 2; d < shape.size() && node_.op == Operator::kConv; ++d)
            after *= static_cast<std::size_t>(shape[d]);
        requantise_all(node_.op == Operator::kConv ? convolution_sums() : product_sums(),
                       requantisation_scales(step_.graph, node_), after);
    }

    /// With its zero points, one for all or one for each output channel.
    IntegerOperand operand(std::size_t i) const {
        const std::vector<std::int32_t>& zero = quantisation(i).zero_point;
        return {step_.in[i]->shape, step_.in[i]->integer, {zero.begin(), zero.end()}};
    }

    std::vector<std::int64_t> bias() const {
        std::vector<std::int64_t> values;
        if (!step_.has(2)) return values;
        values = step_.in[2]->integer;
        for (std::int64_t& value : values) value -= quantisation(2).zero_point.at(0);
        return values;
    }

    std::vector<std::int32_t> convolution_sums() {
        return convolve_integers(node_, operand(0), operand(1), bias());
    }

    /// Rows by one matrix, with a bias for each column; of bytes.
    bool is_plain_product() const {
        for (const std::size_t i : {0, 1})
            if (size_of(step_.in[i]->type) != 1) return false;
        const Shape &x = step_.in[0]->shape, &w = step_.in[1]->shape;
        const std::int64_t columns = step_.out[0]->shape.empty() ? 0 : step_.out[0]->shape.back();
        const bool transposed = node_.integer("transB", 0) != 0;
        const auto& zero = quantisation(1);
        const bool by_column = !zero.axis || *zero.axis == (transposed ? 0 : 1);
        return w.size() == 2 && x.size() >= 2 && quantisation(0).zero_point.size() == 1 &&
               by_column && node_.integer("transA", 0) == 0 &&
               (!step_.has(2) || step_.in[2]->shape == Shape{columns});
    }

    std::vector<std::int32_t> product_sums() {
        if (is_plain_product())
            return multiply_integers(node_, operand(0), operand(1), node_.integer("transB", 0) != 0,
                                     bias());
        const Exact x = centre(0), w = centre(1);
        Exact bias;
        std::vector<const Exact*> in = {&x, &w};
        if (step_.has(2)) in.push_back(&(bias = centre(2)));
        return as_int32(node_, run_exactly(step_.graph, node_, in, step_.out[0]->shape));
    }

    /// Of slices of `after` elements in turn, each has the next scale.
    void requantise_all(const std::vector<std::int32_t>& sums, const std::vector<double>& scales,
                        std::size_t after) {
        if (scales.size() == 1) after = std::max<std::size_t>(1, sums.size());
        for (std::size_t begin = 0, slice = 0; begin < sums.size(); begin += after, ++slice) {
            const double scale = scales[slice % scales.size()];
            const auto narrow = static_cast<float>(scale);
            const std::size_t end = std::min(begin + after, sums.size());
            if (in_integers()) {
                const auto fixed = numerics::fixed_point_scale(scale);
                for (std::size_t i = begin; i < end; ++i)
                    y()[i] = numerics::saturate(
                        numerics::multiply(sums[i], fixed, rounding_) + zero(), range_);
                continue;
            }
            for (std::size_t i = begin; i < end; ++i)
                y()[i] = numerics::requantise_in_fp32(sums[i], narrow, zero(), range_);
        }
    }

    void add(int sign) {
        if (is_tflite(step_.requantisation)) return add_as_tflite(sign < 0);
        const double sa = scale(0) / out_.scale[0], sb = sign * scale(1) / out_.scale[0];
        const auto narrow_a = static_cast<float>(sa), narrow_b = static_cast<float>(sb);
        const numerics::FixedPointPair fixed = numerics::fixed_point_pair(sa, sb);
        switch (step_.requantisation) {
            default:
                return for_each_pair([&](std::int32_t a, std::int32_t b) {
                    return numerics::saturate(numerics::multiply(a, b, fixed) + zero(), range_);
                });
            case Requantisation::kOnnx:
                return for_each_pair([&](std::int32_t a, std::int32_t b) {
                    return round_even(static_cast<double>(a) * sa + static_cast<double>(b) * sb);
                });
            case Requantisation::kVectorUnit:
                return for_each_pair([&](std::int32_t a, std::int32_t b) {
                    const float first = static_cast<float>(a) * narrow_a;
                    const float second = static_cast<float>(b) * narrow_b;
                    return round_even(static_cast<double>(first + second));
                });
        }
    }

    void add_as_tflite(bool subtract) {
        const auto scales = numerics::addition_scales(scale(0), scale(1), double{out_.scale[0]});
        for_each_pair([&](std::int32_t a, std::int32_t b) {
            return numerics::saturate(numerics::add(a, b, subtract, scales, rounding_) + zero(),
                                      range_);
        });
    }

    void multiply() {
        if (step_.requantisation == Requantisation::kVectorUnit) {
            const auto both = static_cast<float>(scale(0) * scale(1) / double{out_.scale[0]});
            return for_each_pair([&](std::int32_t a, std::int32_t b) {
                return round_even(
                    static_cast<double>(static_cast<float>(a) * both * static_cast<float>(b)));
            });
        }
        for_each_pair([](std::int32_t a, std::int32_t b) { return a * b; });
        const std::vector<std::int32_t> products(y().begin(), y().end());
        // TensorFlow Lite multiplies scales in fp32.
        const auto narrow = [&](std::size_t i) { return static_cast<float>(scale(i)); };
        const double both = is_tflite(step_.requantisation)
                                ? double{narrow(0) * narrow(1) / out_.scale[0]}
                                : scale(0) * scale(1) / out_.scale[0];
        requantise_all(products, {both}, 1);
    }

    void average() {
        const Exact x = centre(0);
        Exact sums{step_.out[0]->shape, ElementType::kFp64, {}, {}};
        sums.real.resize(y().size());
        const std::vector<std::int64_t> counts =
            pool_sums(Step<double>{step_.graph, node_, {&x}, {&sums}});
        const std::vector<std::int32_t> whole = as_int32(node_, sums);
        if (step_.requantisation == Requantisation::kVectorUnit) {
            const auto step = static_cast<float>(double{out_.scale[0]} / scale(0));
            for (std::size_t i = 0; i < whole.size(); ++i) {
                const std::int64_t count = counts[i];
                y()[i] = round_even(static_cast<double>(static_cast<float>(whole[i]) /
                                                        static_cast<float>(count) / step));
            }
            return;
        }
        if (is_tflite(step_.requantisation)) return average_as_tflite(whole, counts);
        std::vector<double> scales;
        for (const std::int64_t count : counts)
            scales.push_back(scale(0) / (double{out_.scale[0]} * static_cast<double>(count)));
        requantise_all(whole, scales, 1);
    }

    void average_as_tflite(const std::vector<std::int32_t>& sums,
                           const std::vector<std::int64_t>& counts) {
        const bool divides = divides_stored_values(step_.graph, node_);
        const double ratio = scale(0) / double{out_.scale[0]};
        const std::int64_t from = quantisation(0).zero_point.at(0);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const std::int64_t count = std::max<std::int64_t>(1, counts[i]);
            const std::int64_t mean =
                divides
                    ? divide_rounded(sums[i] + from * count, count)
                    : numerics::multiply(sums[i], numerics::mean_scale(ratio, count), rounding_) +
                          zero();
            y()[i] = numerics::saturate(mean, range_);
        }
    }

    /// Over the last dimension, or over the channels of an image.
    void softmax() {
        if (node_.op != Operator::kSoftmax || !is_tflite(step_.requantisation))
            refuse_quantised(node_);
        const Shape& shape = step_.in[0]->shape;
        const std::size_t axis = axis_of(node_, node_.integer("axis", -1), shape.size());
        std::size_t after = 1, extent = static_cast<std::size_t>(shape[axis]);
        for (std::size_t d = axis + 1; d < shape.size(); ++d)
            (node_.integer("flatten", 0) != 0 ? extent : after) *=
                static_cast<std::size_t>(shape[d]);
        const numerics::SoftmaxScale scale = softmax_scale_of(step_.graph, node_);
        std::vector<std::int64_t> row(extent), result(extent);
        for (std::size_t first = 0; first < y().size(); first += extent * after)
            for (std::size_t i = first; i < first + after; ++i) {
                for (std::size_t j = 0; j < extent; ++j)
                    row[j] = step_.in[0]->integer[i + j * after];
                numerics::softmax_row<std::int64_t>(row, result, scale);
                for (std::size_t j = 0; j < extent; ++j) y()[i + j * after] = result[j];
            }
    }

    /// Over the channels of an image.
    void local_response() {
        if (!is_tflite(step_.requantisation) || step_.in[0]->type != ElementType::kInt8)
            refuse_quantised(node_);
        const IntegerLocalResponse rule = integer_local_response(step_.graph, node_);
        const Shape& shape = step_.in[0]->shape;
        const auto channels = static_cast<std::size_t>(shape[1]);
        std::size_t after = 1;
        for (std::size_t d = 2; d < shape.size(); ++d) after *= static_cast<std::size_t>(shape[d]);
        const std::int64_t from = quantisation(0).zero_point.at(0);
        std::vector<std::int32_t> row(channels), result(channels);
        for (std::size_t first = 0; first < y().size(); first += channels * after)
            for (std::size_t i = first; i < first + after; ++i) {
                for (std::size_t c = 0; c < channels; ++c)
                    row[c] = static_cast<std::int32_t>(step_.in[0]->integer[i + c * after] - from);
                numerics::local_response_row(row, result, rule.before, rule.after,
                                             rule.table.entries);
                for (std::size_t c = 0; c < channels; ++c)
                    y()[i + c * after] = numerics::saturate(
                        numerics::multiply(result[c], rule.scale, rounding_) + zero(), range_);
            }
    }

    void look_up() {
        const std::vector<std::int32_t> table =
            activation_table(step_.graph, node_, step_.requantisation);
        const std::int32_t low = range_of(step_.in[0]->type, quantisation(0).bits).low;
        for (std::size_t i = 0; i < y().size(); ++i)
            y()[i] = table[static_cast<std::size_t>(step_.in[0]->integer[i] - low)];
    }

    void same_scale(std::size_t output) const {
        const Value& out = step_.graph.value(node_.outputs.at(output));
        const Quantisation& q = quantisation(0);
        if (!out.quantisation || out.quantisation->scale != q.scale ||
            out.quantisation->zero_point != q.zero_point)
            throw InputError(fmt::format("node {}: moves values to another scale", node_.name));
    }

    void move() {
        std::vector<Exact> operands;
        for (std::size_t i = 0; i < step_.in.size(); ++i) {
            if (!is_operand(i)) {
                operands.push_back({});
                if (!step_.has(i)) continue;
                operands.back().shape = step_.in[i]->shape;
                operands.back().type = step_.in[i]->type;
                operands.back().integer = step_.in[i]->integer;
                continue;
            }
            operands.push_back(centre(i));
            if (node_.op != Operator::kConcat) {
                same_scale(0);
                continue;
            }
            const auto fixed = numerics::fixed_point_scale(scale(i) / out_.scale[0]);
            if (scale(i) != double{out_.scale[0]})
                for (double& x : operands.back().real)
                    x = static_cast<double>(
                        numerics::multiply(static_cast<std::int32_t>(x), fixed, rounding_));
        }
        std::vector<const Exact*> in;
        for (std::size_t i = 0; i < operands.size(); ++i)
            in.push_back(step_.has(i) ? &operands[i] : nullptr);
        const Exact moved = run_exactly(step_.graph, node_, in, step_.out[0]->shape);
        // A window that sees padding alone has no maximum: the lowest double, which saturates.
        for (std::size_t i = 0; i < y().size(); ++i)
            y()[i] = numerics::saturate(
                static_cast<std::int64_t>(std::max(moved.real[i], -0x1p40)) + zero(), range_);
    }

    /// In fractions of 1/1024, and rounded once. It works on the stored values themselves.
    void resize() {
        same_scale(0);
        const Shape &in = step_.in[0]->shape, &out = step_.out[0]->shape;
        const numerics::ResizeAxis::Mode mode{true, node_.integer("half_pixel_centers", 0) != 0,
                                              node_.integer("align_corners", 0) != 0};
        const numerics::ResizeAxis rows(in[2], out[2], mode), columns(in[3], out[3], mode);
        const auto rounding = rounding_ == numerics::IntegerRounding::kUp
                                  ? numerics::IntegerRounding::kUp
                                  : numerics::IntegerRounding::kAway;
        constexpr std::int64_t kOne = numerics::ResizeAxis::kOne;
        std::size_t to = 0;
        for (std::int64_t plane = 0; plane < in[0] * in[1]; ++plane)
            for (std::int64_t oy = 0; oy < out[2]; ++oy)
                for (std::int64_t ox = 0; ox < out[3]; ++ox) {
                    const auto row = rows.at(oy), column = columns.at(ox);
                    const auto at = [&](std::int64_t r, std::int64_t c) {
                        return step_.in[0]
                            ->integer[static_cast<std::size_t>((plane * in[2] + r) * in[3] + c)];
                    };
                    const auto line = [&](std::int64_t r) {
                        return at(r, column.low) * (kOne - column.fraction) +
                               at(r, column.high) * column.fraction;
                    };
                    y()[to++] = numerics::saturate(
                        numerics::shift_right(
                            line(row.low) * (kOne - row.fraction) + line(row.high) * row.fraction,
                            2 * numerics::ResizeAxis::kBits, rounding),
                        range_);
                }
    }

    /// Inputs that are moved; the others say where to.
    bool is_operand(std::size_t i) const {
        return step_.has(i) && (i == 0 || node_.op == Operator::kConcat);
    }

    /// y = f(a - za, b - zb) for all pairs of the two inputs.
    template <class F>
    void for_each_pair(const F& f) const {
        const Shape& shape = step_.out[0]->shape;
        const Array<Real>&a = *step_.in[0], &b = *step_.in[1];
        const std::int64_t za = quantisation(0).zero_point.at(0),
                           zb = quantisation(1).zero_point.at(0);
        const auto pair = [&](std::size_t i, std::size_t at_a, std::size_t at_b) {
            y()[i] = f(static_cast<std::int32_t>(a.integer[at_a] - za),
                       static_cast<std::int32_t>(b.integer[at_b] - zb));
        };
        if (a.shape == shape && b.shape == shape) {
            for (std::size_t i = 0; i < y().size(); ++i) pair(i, i, i);
            return;
        }
        std::vector<std::size_t> of_a(y().size());
        for_each(shape, broadcast_strides(a.shape, shape), 0,
                 [&](std::size_t i, std::size_t at) { of_a[i] = at; });
        for_each(shape, broadcast_strides(b.shape, shape), 0,
                 [&](std::size_t i, std::size_t at) { pair(i, of_a[i], at); });
    }

    std::int32_t round_even(double steps) const {
        return numerics::saturate(static_cast<std::int64_t>(std::nearbyint(steps)) + zero(),
                                  range_);
    }
    std::int32_t zero() const { return out_.zero_point[0]; }
    /// Products and sums by multiplier and shift.
    bool in_integers() const {
        return step_.requantisation == Requantisation::kFixedPoint ||
               is_tflite(step_.requantisation);
    }

    const Step<Real>& step_;
    const Node& node_;
    Quantisation out_;
    numerics::IntegerRange range_;
    numerics::IntegerRounding rounding_ = numerics::IntegerRounding::kUp;
};

}  // namespace

template <class Real>
bool run_quantised(const Step<Real>& step) {
    if (!is_quantised(step.graph, step.node)) return false;
    Quantised<Real>(step).run();
    return true;
}

template bool run_quantised(const Step<float>&);
template bool run_quantised(const Step<double>&);

}  // namespace lockstep::network::reference

namespace lockstep::network {

std::vector<std::int32_t> activation_table(const Graph& graph, const Node& node,
                                           Requantisation requantisation) {
    using reference::Exact;
    const Value &in = graph.value(node.inputs.at(0)), &out = graph.value(node.outputs.at(0));
    LOCKSTEP_CHECK(in.quantisation && out.quantisation, "{} is not quantised", node.name);
    const Quantisation &from = *in.quantisation, &to = *out.quantisation;
    const numerics::IntegerRange range = range_of(in.type, from.bits),
                                 limits = range_of(out.type, to.bits);
    if (is_tflite(requantisation)) {
        std::vector<std::int32_t> table = tflite_table(graph, node, rounding_of(requantisation));
        if (!table.empty()) return table;
    }
    Exact x{{range.high - range.low + 1}, ElementType::kFp64, {}, {}};
    const bool in_fp32 = requantisation == Requantisation::kVectorUnit;
    for (std::int32_t q = range.low; q <= range.high; ++q) {
        const double real = double{from.scale[0]} * (q - from.zero_point[0]);
        x.real.push_back(in_fp32 ? double{static_cast<float>(real)} : real);
    }
    // The bounds of a Clip.
    std::vector<Exact> bounds(node.inputs.size());
    std::vector<const Exact*> operands = {&x};
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
        operands.push_back(nullptr);
        if (node.inputs[i] == kNoValue) continue;
        const Value& bound = graph.value(node.inputs[i]);
        if (!bound.is_known())
            throw InputError(fmt::format("node {}: {} is not known", node.name, bound.name));
        bounds[i] = {bound.data->shape, ElementType::kFp64, to_doubles(*bound.data), {}};
        operands.back() = &bounds[i];
    }
    const Exact y = reference::run_exactly(graph, node, operands, x.shape);
    std::vector<std::int32_t> table;
    for (const double real : y.real) {
        const double exact =
            in_fp32 ? double{static_cast<float>(real) / to.scale[0]} : real / double{to.scale[0]};
        const double steps =
            (is_tflite(requantisation) ? std::round(exact) : std::nearbyint(exact)) +
            to.zero_point[0];
        table.push_back(
            static_cast<std::int32_t>(std::clamp<double>(steps, limits.low, limits.high)));
    }
    return table;
}

}  // namespace lockstep::network
