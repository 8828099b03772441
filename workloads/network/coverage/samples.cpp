// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/coverage/samples.h"

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/graph/onnx_type.h"

namespace lockstep::network::coverage {

namespace {

using enum Operator;

class Sample {
  public:
    explicit Sample(Operator op) : op_(op), b_(std::string(name_of(op)), 1) {}

    ValueId input(ElementType type, Shape shape) {
        return b_.input(name("x"), type, std::move(shape));
    }
    /// [4, 8] after a product.
    ValueId matrix() {
        const ValueId x = input(ElementType::kFp32, {4, 8});
        return b_.node(kGemm, name("product"), {x, b_.weight(name("w"), {8, 8}, 0.3f)});
    }
    /// [1, 8, 8, 8] after a convolution.
    ValueId image() {
        const ValueId x = input(ElementType::kFp32, {1, 8, 8, 8});
        return b_.convolution(name("convolution"), x, 8, 1, {});
    }
    ValueId truth() { return b_.node(kLess, name("less"), {matrix(), reals({4, 8})}); }
    ValueId reals(Shape shape) { return b_.weight(name("c"), std::move(shape), 0.4f, 0.5f); }
    ValueId integers(std::vector<std::int64_t> values) {
        const auto count = static_cast<std::int64_t>(values.size());
        return integers(std::move(values), {count});
    }
    ValueId integers(std::vector<std::int64_t> values, Shape shape,
                     ElementType type = ElementType::kInt64) {
        return b_.constant(name("i"), from_integers(type, std::move(shape), values));
    }
    /// A zero point.
    ValueId byte() { return integers({0}, {}, ElementType::kInt8); }
    /// A weight of integers.
    ValueId bytes(Shape shape) {
        const auto count = static_cast<std::size_t>(element_count(shape));
        return integers(std::vector<std::int64_t>(count, 1), std::move(shape), ElementType::kInt8);
    }
    ValueId scalar(float value) {
        return b_.constant(name("s"), make_tensor({}, std::span<const float>(&value, 1)));
    }
    /// The node, and a product that reads it.
    Graph before_product(std::vector<ValueId> inputs) {
        const ValueId y = b_.node(op_, std::string(kSampleName), std::move(inputs));
        return b_.finish({b_.node(kGemm, name("product"), {y, reals({8, 8})})});
    }
    /// The node itself.
    Graph node(std::vector<ValueId> inputs, Attributes attributes = {}) {
        const std::size_t outputs = std::max<std::size_t>(1, info_of(op_).minimum_outputs);
        return b_.finish({b_.node(op_, std::string(kSampleName), std::move(inputs),
                                  std::move(attributes), outputs)});
    }

  private:
    std::string name(const char* what) { return fmt::format("{}{}", what, ++names_); }

    Operator op_;
    Builder b_;
    int names_ = 0;
};

constexpr std::int64_t kOne = 1, kTwo = 2;
using Integers = std::vector<std::int64_t>;

Graph elements(Sample& s, Operator op) {
    const OperatorInfo& info = info_of(op);
    // What takes any number is given two.
    const std::size_t count =
        info.maximum_inputs > 8 ? 2 : std::max<std::size_t>(1, info.minimum_inputs);
    std::vector<ValueId> inputs;
    while (inputs.size() < count) inputs.push_back(s.matrix());
    return s.node(std::move(inputs));
}

Graph pool(Sample& s, Operator) {
    return s.node({s.image()}, {{"kernel_shape", Integers{2, 2}}, {"strides", Integers{2, 2}}});
}

Graph image(Sample& s, Operator) {
    return s.node({s.image()});
}

Graph blocks(Sample& s, Operator) {
    return s.node({s.image()}, {{"blocksize", kTwo}});
}

Graph logic(Sample& s, Operator) {
    return s.node({s.truth(), s.truth()});
}

Graph normalisation(Sample& s, Operator op) {
    std::vector<ValueId> inputs = {s.image()};
    while (inputs.size() < info_of(op).minimum_inputs) inputs.push_back(s.reals({8}));
    return s.node(std::move(inputs));
}

Graph recurrent(Sample& s, Operator op) {
    const std::int64_t gates = op == kLSTM ? 4 : op == kGRU ? 3 : 1;
    return s.node({s.input(ElementType::kFp32, {2, 1, 8}), s.reals({1, gates * 8, 8}),
                   s.reals({1, gates * 8, 8})});
}

struct Row {
    Operator op;
    Graph (*make)(Sample&, Operator);
};

/// Those that elements() does not fit.
const Row kRows[] = {
    {kAnd, logic},
    {kOr, logic},
    {kXor, logic},
    {kNot, [](Sample& s, Operator) { return s.node({s.truth()}); }},
    {kAveragePool, pool},
    {kMaxPool, pool},
    {kMaxPoolGrad,
     [](Sample& s, Operator) {
         return s.node({s.image(), s.input(ElementType::kFp32, {1, 8, 4, 4})},
                       {{"kernel_shape", Integers{2, 2}}, {"strides", Integers{2, 2}}});
     }},
    {kGlobalAveragePool, image},
    {kGlobalMaxPool, image},
    {kLRN,
     [](Sample& s, Operator) {
         return s.node({s.image()}, {{"size", kTwo}});
     }},
    {kResizeBilinear,
     [](Sample& s, Operator) {
         return s.node({s.image()}, {{"size", Integers{13, 16}}});
     }},
    {kDepthToSpace, blocks},
    {kSpaceToDepth, blocks},
    {kBatchNormalization, normalisation},
    {kInstanceNormalization, normalisation},
    {kLayerNormalization,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.reals({8})});
     }},
    {kConv,
     [](Sample& s, Operator) {
         return s.node({s.image(), s.reals({8, 8, 3, 3})});
     }},
    {kConvTranspose,
     [](Sample& s, Operator) {
         return s.node({s.image(), s.reals({8, 8, 2, 2})});
     }},
    {kGemm,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.reals({8, 8})});
     }},
    {kMatMul,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.reals({8, 8})});
     }},
    {kEinsum,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.reals({8, 8})}, {{"equation", std::string("ij,jk->ik")}});
     }},
    {kLSTM, recurrent},
    {kGRU, recurrent},
    {kRNN, recurrent},
    {kCast,
     [](Sample& s, Operator) {
         return s.node({s.matrix()}, {{"to", std::int64_t{kOnnxFp32}}});
     }},
    {kConcat,
     [](Sample& s, Operator) {
         return s.node({s.image(), s.image()}, {{"axis", kOne}});
     }},
    {kConstant,
     [](Sample& s, Operator) {
         return s.node({}, {{"value_float", 1.0f}});
     }},
    {kConstantOfShape,
     [](Sample& s, Operator) {
         return s.node({s.integers({2, 3})});
     }},
    {kRange,
     [](Sample& s, Operator) {
         return s.node({s.scalar(0), s.scalar(4), s.scalar(1)});
     }},
    {kCumSum,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({1}, {})});
     }},
    {kReshape,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({8, 4})});
     }},
    {kExpand,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({2, 4, 8})});
     }},
    {kTile,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({2, 1})});
     }},
    {kPad,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({0, 1, 0, 1})});
     }},
    {kSlice,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({0, 2}), s.integers({4, 6})});
     }},
    {kSplit,
     [](Sample& s, Operator) {
         return s.node({s.matrix()}, {{"axis", kOne}});
     }},
    {kSqueeze,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({})});
     }},
    {kUnsqueeze,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({0})});
     }},
    {kResize,
     [](Sample& s, Operator) {
         return s.node({s.image(), kNoValue, kNoValue, s.integers({1, 8, 16, 16})});
     }},
    {kGather,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({2, 0, 1})});
     }},
    {kGatherElements,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({0, 1}, {1, 2})});
     }},
    {kGatherND,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({0, 1}, {1, 2})});
     }},
    {kScatterElements,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({0, 1}, {1, 2}), s.reals({1, 2})});
     }},
    {kScatterND,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({0, 1}, {1, 2}), s.reals({1})});
     }},
    {kTopK,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.integers({3})});
     }},
    {kOneHot,
     [](Sample& s, Operator) {
         return s.node({s.input(ElementType::kInt64, {3}), s.integers({4}, {}), s.reals({2})});
     }},
    {kWhere,
     [](Sample& s, Operator) {
         return s.node({s.truth(), s.matrix(), s.reals({4, 8})});
     }},
    {kConvInteger,
     [](Sample& s, Operator) {
         return s.node({s.input(ElementType::kInt8, {1, 8, 8, 8}), s.bytes({8, 8, 1, 1})});
     }},
    {kMatMulInteger,
     [](Sample& s, Operator) {
         return s.node({s.input(ElementType::kInt8, {4, 8}), s.bytes({8, 8})});
     }},
    {kQLinearConv,
     [](Sample& s, Operator) {
         return s.node({s.input(ElementType::kInt8, {1, 8, 8, 8}), s.scalar(0.1f), s.byte(),
                        s.bytes({8, 8, 1, 1}), s.scalar(0.1f), s.byte(), s.scalar(0.1f), s.byte()});
     }},
    {kQLinearMatMul,
     [](Sample& s, Operator) {
         return s.node({s.input(ElementType::kInt8, {4, 8}), s.scalar(0.1f), s.byte(),
                        s.bytes({8, 8}), s.scalar(0.1f), s.byte(), s.scalar(0.1f), s.byte()});
     }},
    {kQuantizeLinear,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.scalar(0.1f), s.byte()});
     }},
    {kDequantizeLinear,
     [](Sample& s, Operator) {
         return s.before_product({s.input(ElementType::kInt8, {4, 8}), s.scalar(0.1f), s.byte()});
     }},
    {kPRelu,
     [](Sample& s, Operator) {
         return s.node({s.matrix(), s.reals({8})});
     }},
};

}  // namespace

Graph sample_of(Operator op) {
    Sample sample(op);
    const auto* row = std::ranges::find(kRows, op, &Row::op);
    return (row == std::end(kRows) ? elements : row->make)(sample, op);
}

}  // namespace lockstep::network::coverage
