// SPDX-License-Identifier: Apache-2.0
// Every rule against central differences in FP64: the error of the difference is of the order of
// h^2 = 1e-10, and of rounding 1e-16 / h = 1e-11.
#include "workloads/network/train/gradient.h"

#include <gmock/gmock.h>

#include <cmath>

#include "sim/error/error.h"
#include "sim/numerics/random.h"
#include "workloads/network/decompose/expand.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network {
namespace {

using enum Operator;
using Integers = std::vector<std::int64_t>;

constexpr double kStep = 1e-5, kTolerance = 1e-7;

/// A graph in FP64, and what is differentiated: inputs, all of them.
struct Case {
    std::string name;
    Graph graph;
    std::vector<Tensor> inputs;
};

/// Builds one case: inputs with values that keep away from corners, known operands, a node.
class Make {
  public:
    explicit Make(std::string name) : b_(name, 1), name_(std::move(name)) {}

    /// Values in low to high, no two alike, none near a multiple of a half.
    ValueId x(Shape shape, double low = -1.9, double high = 1.9) {
        const std::string name = "x" + std::to_string(inputs_.size());
        std::vector<double> values;
        for (std::int64_t i = 0; i < element_count(shape); ++i) {
            double v = low + (high - low) * double(numerics::random_unit(stream_, counter_++));
            if (std::abs(v * 2 - std::round(v * 2)) < 0.02) v += 0.03;
            values.push_back(v);
        }
        inputs_.push_back(from_doubles(ElementType::kFp64, shape, values));
        return b_.input(name, ElementType::kFp64, std::move(shape));
    }
    ValueId reals(Shape shape, std::vector<double> values) {
        return b_.constant(next("c"), from_doubles(ElementType::kFp64, std::move(shape), values));
    }
    ValueId scalar(double value) { return reals({}, {value}); }
    ValueId integers(Integers values) {
        const Shape shape = {static_cast<std::int64_t>(values.size())};
        return b_.constant(next("i"), make_tensor(shape, std::span<const std::int64_t>(values)));
    }
    ValueId tensor(Tensor t) { return b_.constant(next("t"), std::move(t)); }
    ValueId node(Operator op, std::vector<ValueId> inputs, Attributes attributes = {},
                 std::size_t outputs = 1) {
        return b_.node(op, next("n"), std::move(inputs), std::move(attributes), outputs);
    }
    Case done(std::vector<ValueId> outputs) {
        return {name_, b_.finish(std::move(outputs)), std::move(inputs_)};
    }

  private:
    std::string next(const char* prefix) { return prefix + std::to_string(names_++); }

    Builder b_;
    std::string name_;
    std::vector<Tensor> inputs_;
    std::uint64_t stream_ = 7, counter_ = 0;
    int names_ = 0;
};

/// The weights with which outputs are summed to one number.
std::vector<double> weights_for(std::int64_t count, std::uint64_t stream) {
    std::vector<double> weights;
    for (std::int64_t i = 0; i < count; ++i)
        weights.push_back(0.5 +
                          double(numerics::random_unit(stream, static_cast<std::uint64_t>(i))));
    return weights;
}

double loss_of(const Graph& graph, const std::vector<Tensor>& inputs) {
    double loss = 0;
    const std::vector<Tensor> outputs = execute(graph, inputs, Precision::kFp64);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const std::vector<double> y = to_doubles(outputs[o]), w = weights_for(outputs[o].size(), o);
        for (std::size_t i = 0; i < y.size(); ++i) loss += w[i] * y[i];
    }
    return loss;
}

std::vector<Tensor> gradients_of(const Graph& forward, const std::vector<Tensor>& inputs) {
    Graph graph = forward;
    std::vector<Seed> seeds;
    for (std::size_t o = 0; o < forward.outputs.size(); ++o) {
        const Shape shape = graph.shape(forward.outputs[o]);
        const Tensor t =
            from_doubles(ElementType::kFp64, shape, weights_for(element_count(shape), o));
        Value value{"seed" + std::to_string(o), ValueKind::kConstant, t.type, t.shape};
        value.data = std::make_shared<const Tensor>(t);
        seeds.push_back({forward.outputs[o], graph.add(std::move(value))});
    }
    std::vector<ValueId> wanted;
    for (const ValueId id : forward.inputs)
        if (is_floating(graph.value(id).type)) wanted.push_back(id);
    const std::vector<ValueId> gradients = add_gradients(graph, seeds, wanted);
    validate(graph);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        EXPECT_NE(gradients[i], kNoValue) << forward.name << " input " << i;
        EXPECT_EQ(graph.shape(gradients[i]), graph.shape(wanted[i])) << forward.name;
    }
    return execute(graph, inputs, Precision::kFp64, gradients);
}

void check(const Case& c) {
    SCOPED_TRACE(c.name);
    const std::vector<Tensor> gradients = gradients_of(c.graph, c.inputs);
    std::size_t at = 0;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
        if (!is_floating(c.inputs[i].type)) continue;
        const std::vector<double> got = to_doubles(gradients.at(at++));
        for (std::size_t e = 0; e < got.size(); ++e) {
            std::vector<Tensor> moved = c.inputs;
            double& value = moved[i].as<double>()[e];
            const double x = value;
            value = x + kStep;
            const double up = loss_of(c.graph, moved);
            value = x - kStep;
            const double down = loss_of(c.graph, moved);
            const double wanted = (up - down) / (2 * kStep);
            ASSERT_NEAR(got[e], wanted, kTolerance * std::max(1.0, std::abs(wanted)))
                << "input " << i << " element " << e;
        }
    }
}

void check_unary(Operator op, Attributes attributes = {}, double low = -1.9, double high = 1.9) {
    Make m(std::string(name_of(op)));
    const ValueId x = m.x({3, 4}, low, high);
    check(m.done({m.node(op, {x}, std::move(attributes))}));
}

TEST(Gradient, of_functions_of_an_element) {
    for (const Operator op :
         {kAbs, kCos, kElu, kErf, kExp, kGelu, kHardSigmoid, kIdentity, kLeakyRelu, kNeg, kRelu,
          kSigmoid, kSin, kSoftplus, kSoftsign, kTanh, kSelu, kCelu})
        check_unary(op);
    for (const Operator op : {kLog, kReciprocal, kSqrt}) check_unary(op, {}, 0.3, 2.2);
    check_unary(kGelu, {{"approximate", std::string("tanh")}});
    check_unary(kElu, {{"alpha", 1.7f}});
    check_unary(kHardSwish, {}, -4.3, 4.3);
    check_unary(kHardSigmoid, {{"alpha", 0.7f}, {"beta", 0.4f}});
}

TEST(Gradient, of_arithmetic_with_broadcasting) {
    const std::vector<std::pair<Shape, Shape>> shapes = {{{3, 4}, {3, 4}},    {{3, 4}, {4}},
                                                         {{3, 4}, {3, 1}},    {{1, 4}, {3, 1}},
                                                         {{2, 1, 4}, {3, 1}}, {{3}, {}}};
    for (const auto& [a, b] : shapes)
        for (const Operator op : {kAdd, kSub, kMul, kDiv, kMax, kMin, kPow}) {
            Make m(std::string(name_of(op)) + to_string(a) + to_string(b));
            const bool positive = op == kDiv || op == kPow;
            const ValueId x = m.x(a, positive ? 0.4 : -1.9, 1.9),
                          y = m.x(b, positive ? 0.4 : -1.9, 1.9);
            check(m.done({m.node(op, {x, y})}));
        }
    Make m("Sum, PRelu, Clip, Where");
    const ValueId x = m.x({2, 3}), y = m.x({3}), z = m.x({2, 1});
    const ValueId p = m.node(kPRelu, {x, y}), s = m.node(kSum, {x, y, z});
    const ValueId c = m.node(kClip, {x, m.scalar(-0.75), m.scalar(0.8)});
    const ValueId w = m.node(kWhere, {m.node(kLess, {x, m.scalar(0.1)}), y, z});
    check(m.done({p, s, c, w}));
}

TEST(Gradient, of_products) {
    for (const int turns : {0, 1, 2, 3}) {
        const bool ta = (turns & 1) != 0, tb = (turns & 2) != 0;
        Make m("Gemm" + std::to_string(turns));
        const ValueId a = m.x(ta ? Shape{4, 3} : Shape{3, 4}),
                      b = m.x(tb ? Shape{5, 4} : Shape{4, 5}), c = m.x({5});
        check(m.done({m.node(kGemm, {a, b, c},
                             {{"transA", std::int64_t{ta}},
                              {"transB", std::int64_t{tb}},
                              {"alpha", 0.7f},
                              {"beta", 1.3f}})}));
    }
    const std::vector<std::pair<Shape, Shape>> shapes = {
        {{3, 4}, {4, 2}},    {{2, 3, 4}, {4, 2}}, {{2, 3, 4}, {2, 4, 2}}, {{2, 1, 3, 4}, {3, 4, 2}},
        {{3, 4}, {2, 4, 2}}, {{4}, {4, 2}},       {{3, 4}, {4}},          {{4}, {4}},
        {{2, 3, 4}, {4}}};
    for (const auto& [a, b] : shapes) {
        Make m("MatMul" + to_string(a) + to_string(b));
        const ValueId x = m.x(a), y = m.x(b);
        check(m.done({m.node(kMatMul, {x, y})}));
    }
}

TEST(Gradient, of_convolutions) {
    struct Form {
        Shape x, w;
        Attributes attributes;
    };
    const std::vector<Form> forms = {
        {{2, 2, 5, 5}, {3, 2, 3, 3}, {}},
        {{1, 1, 6, 7}, {2, 1, 3, 2}, {{"strides", Integers{2, 3}}, {"pads", Integers{1, 0, 2, 1}}}},
        {{2, 4, 4, 4}, {6, 2, 2, 2}, {{"group", std::int64_t{2}}, {"pads", Integers{1, 1, 0, 0}}}},
        {{1, 3, 5, 5},
         {3, 1, 3, 3},
         {{"group", std::int64_t{3}}, {"strides", Integers{2, 2}}, {"pads", Integers{1, 1, 1, 1}}}},
        {{1, 1, 8, 6}, {1, 1, 3, 2}, {{"dilations", Integers{2, 3}}}},
        {{1, 2, 7}, {2, 2, 3}, {{"strides", Integers{2}}, {"auto_pad", std::string("SAME_UPPER")}}},
    };
    for (const Form& form : forms) {
        Make m("Conv" + to_string(form.x) + to_string(form.w));
        const ValueId x = m.x(form.x), w = m.x(form.w), b = m.x({form.w[0]});
        check(m.done({m.node(kConv, {x, w, b}, form.attributes)}));
    }
    Make m("ConvTranspose");
    const ValueId x = m.x({1, 2, 3, 3}), w = m.x({2, 3, 2, 2});
    check(m.done({m.node(kConvTranspose, {x, w}, {{"strides", Integers{2, 2}}})}));
}

TEST(Gradient, of_pooling) {
    const std::vector<Attributes> forms = {
        {{"kernel_shape", Integers{2, 2}}, {"strides", Integers{2, 2}}},
        {{"kernel_shape", Integers{3, 2}},
         {"strides", Integers{2, 1}},
         {"pads", Integers{1, 1, 1, 0}}},
        {{"kernel_shape", Integers{3, 3}},
         {"strides", Integers{2, 2}},
         {"ceil_mode", std::int64_t{1}}}};
    for (const Attributes& form : forms) {
        for (const Operator op : {kMaxPool, kAveragePool}) {
            Make m(std::string(name_of(op)));
            check(m.done({m.node(op, {m.x({2, 2, 6, 6})}, form)}));
        }
        Make m("AveragePool that counts padding");
        Attributes counting = form;
        counting["count_include_pad"] = std::int64_t{1};
        check(m.done({m.node(kAveragePool, {m.x({1, 2, 6, 6})}, counting)}));
    }
    Make m("global");
    const ValueId x = m.x({2, 3, 3, 2});
    check(m.done({m.node(kGlobalAveragePool, {x}), m.node(kGlobalMaxPool, {x})}));
}

TEST(Gradient, of_a_maximum_goes_to_the_first_of_equals) {
    Make m("ties");
    const ValueId x = m.x({1, 1, 2, 2});
    Case c = m.done({m.node(kMaxPool, {x}, {{"kernel_shape", Integers{2, 2}}})});
    c.inputs = {from_doubles(ElementType::kFp64, {1, 1, 2, 2}, std::vector<double>{0, 3, 3, 3})};
    const double w = weights_for(1, 0)[0];
    EXPECT_THAT(to_doubles(gradients_of(c.graph, c.inputs).at(0)),
                testing::ElementsAre(0, w, 0, 0));
}

TEST(Gradient, of_reductions) {
    for (const Operator op : {kReduceSum, kReduceMean, kReduceMax, kReduceMin, kReduceL2,
                              kReduceSumSquare, kReduceL1, kReduceLogSumExp})
        for (const Integers& axes : {Integers{0}, Integers{1, 2}, Integers{-1}, Integers{0, 1, 2}})
            for (const std::int64_t keeps : {0, 1}) {
                Make m(std::string(name_of(op)));
                check(
                    m.done({m.node(op, {m.x({2, 3, 2})}, {{"axes", axes}, {"keepdims", keeps}})}));
            }
}

TEST(Gradient, of_rows) {
    for (const std::int64_t axis : {0, 1, 2})
        for (const std::int64_t flatten : {0, 1})
            for (const Operator op : {kSoftmax, kLogSoftmax}) {
                Make m(std::string(name_of(op)));
                check(
                    m.done({m.node(op, {m.x({2, 3, 2})}, {{"axis", axis}, {"flatten", flatten}})}));
            }
    for (const std::int64_t axis : {-1, 1}) {
        Make m("LayerNormalization");
        const Shape slice = axis == -1 ? Shape{4} : Shape{3, 4};
        const ValueId x = m.x({2, 3, 4}), g = m.x(slice), b = m.x(slice);
        check(m.done({m.node(kLayerNormalization, {x, g, b}, {{"axis", axis}})}));
    }
    Make m("InstanceNormalization, BatchNormalization");
    const ValueId x = m.x({2, 3, 2, 2}), g = m.x({3}), b = m.x({3});
    check(m.done({m.node(kInstanceNormalization, {x, g, b}),
                  m.node(kBatchNormalization,
                         {x, g, b, m.reals({3}, {0.1, 0.2, 0.3}), m.reals({3}, {1, 2, 0.5})})}));
}

TEST(Gradient, of_what_moves) {
    Make m("movement");
    const ValueId x = m.x({2, 3, 4}), y = m.x({2, 1, 4});
    const ValueId three = m.node(kSplit, {x}, {{"axis", std::int64_t{1}}}, 3);
    check(m.done({
        m.node(kReshape, {x, m.integers({6, 4})}),
        m.node(kTranspose, {x}, {{"perm", Integers{2, 0, 1}}}),
        m.node(kConcat, {x, y, x}, {{"axis", std::int64_t{1}}}),
        three,
        three + 2,
        m.node(kSlice, {x, m.integers({1, 0}), m.integers({3, 3}), m.integers({1, 2})}),
        m.node(kSlice, {x, m.integers({0, 3}), m.integers({3, -9}), m.integers({1, 2}),
                        m.integers({2, -2})}),
        m.node(kPad, {x, m.integers({0, 1, 2, 1, 0, 1})}),
        m.node(kExpand, {y, m.integers({2, 3, 4})}),
        m.node(kTile, {y, m.integers({1, 2, 3})}),
        m.node(kTrilu, {x}, {{"upper", std::int64_t{0}}}),
        m.node(kUnsqueeze, {x, m.integers({1})}),
        m.node(kFlatten, {x}),
        m.node(kCast, {x}, {{"to", std::int64_t{11}}}),
    }));
    for (const Integers& indices : {Integers{2, 0, 2, 1}, Integers{1, 2}, Integers{-1}})
        for (const std::int64_t axis : {0, 1}) {
            Make g("Gather");
            check(
                g.done({g.node(kGather, {g.x({3, 3, 2}), g.integers(indices)}, {{"axis", axis}})}));
        }
}

TEST(Gradient, of_an_embedding_adds_rows_that_are_read_twice) {
    Builder b("embedding", 1);
    const ValueId table = b.input("table", ElementType::kFp64, {4, 2}),
                  ids = b.input("ids", ElementType::kInt64, {2, 3});
    Case c{"embedding", b.finish({b.node(kGather, "rows", {table, ids})}), {}};
    c.inputs = {from_doubles(ElementType::kFp64, {4, 2}, weights_for(8, 3)),
                from_integers(ElementType::kInt64, {2, 3}, Integers{1, 3, 1, 0, 1, -1})};
    check(c);
}

TEST(Gradient, of_what_is_taken_and_put_by_indices) {
    const auto indices = [](Shape shape, Integers values) {
        return from_integers(ElementType::kInt64, std::move(shape), values);
    };
    {
        Make m("taken");
        const ValueId x = m.x({3, 4});
        check(m.done({m.node(kGatherElements, {x, m.tensor(indices({3, 2}, {0, 3, 1, 1, 2, 0}))},
                             {{"axis", std::int64_t{1}}}),
                      m.node(kGatherND, {x, m.tensor(indices({3, 1}, {2, 0, 2}))})}));
    }
    {
        Make m("top");
        const ValueId x = m.x({3, 5});
        const ValueId largest = m.node(kTopK, {x, m.integers({2})}, {}, 2);
        const ValueId least = m.node(kTopK, {x, m.integers({1})},
                                     {{"axis", std::int64_t{0}}, {"largest", std::int64_t{0}}}, 2);
        check(m.done({largest, least}));
    }
    for (const char* reduction : {"none", "add"}) {
        Make m(reduction);
        const Attributes how = {{"reduction", std::string(reduction)}};
        Attributes along = how;
        along["axis"] = std::int64_t{1};
        const ValueId x = m.x({3, 4}), u = m.x({3, 2}), rows = m.x({2, 4});
        check(m.done(
            {m.node(kScatterElements, {x, m.tensor(indices({3, 2}, {0, 3, 1, 2, 2, 0})), u}, along),
             m.node(kScatterND, {x, m.tensor(indices({2, 1}, {2, 0})), rows}, how)}));
    }
    // By computed indices along an inner dimension.
    Builder b("inner", 1);
    const ValueId table = b.input("table", ElementType::kFp64, {2, 4}),
                  ids = b.input("ids", ElementType::kInt64, {3});
    Case c{"inner",
           b.finish({b.node(kGather, "columns", {table, ids}, {{"axis", std::int64_t{1}}})}),
           {}};
    c.inputs = {from_doubles(ElementType::kFp64, {2, 4}, weights_for(8, 3)),
                indices({3}, {1, 3, 1})};
    check(c);
}

TEST(Gradient, of_recurrent_layers_is_that_of_their_parts) {
    const auto recurrent = [](Operator op, std::int64_t gates) {
        Make m(std::string(name_of(op)));
        const auto given = [&](std::uint64_t stream) {
            const Shape shape = {1, gates * 2, 2};
            return m.reals(shape, weights_for(element_count(shape), stream));
        };
        const ValueId x = m.x({3, 2, 2});
        Case c = m.done({m.node(op, {x, given(1), given(2)}, {{"hidden_size", std::int64_t{2}}},
                                op == kLSTM ? 3 : 2)});
        expand_lstm(c.graph);
        check(c);
    };
    recurrent(kRNN, 1);
    recurrent(kGRU, 3);
    recurrent(kLSTM, 4);
}

TEST(Gradient, names_the_node_that_has_none) {
    Builder b("none", 1);
    const ValueId x = b.input("x", ElementType::kFp64, {3});
    const ValueId y = b.node(kCeil, "round up", {x});
    Graph graph = b.finish({y});
    const Seed seed{y, x};
    try {
        add_gradients(graph, std::span(&seed, 1), std::span(&x, 1));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("node round up (Ceil) has no gradient"));
    }
}

}  // namespace
}  // namespace lockstep::network
