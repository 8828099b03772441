// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/operators.h"

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/reference/quantised.h"

namespace lockstep::network::lowering {

using tpu::Function;

namespace {

using OptionalFunction = std::optional<Function>;

template <Function kFunction>
OptionalFunction always(const Graph&, const Node&) {
    return kFunction;
}

OptionalFunction gelu(const Graph&, const Node& node) {
    return node.text("approximate", "none") == "tanh" ? Function::kGeluTanh : Function::kGelu;
}

OptionalFunction hard_sigmoid(const Graph&, const Node& node) {
    const bool is_unit_s = node.real("alpha", 0.2f) == 1.0f / 6 && node.real("beta", 0.5f) == 0.5f;
    return is_unit_s ? OptionalFunction(Function::kHardSigmoid) : std::nullopt;
}

OptionalFunction leaky_relu(const Graph&, const Node& node) {
    return node.real("alpha", 0.01f) == 0.01f ? OptionalFunction(Function::kLeakyRelu)
                                              : std::nullopt;
}

OptionalFunction clip(const Graph& graph, const Node& node) {
    const auto bound = [&](std::size_t i) {
        return node.input(i) == kNoValue ? std::nullopt : scalar_of(graph.value(node.input(i)));
    };
    const auto low = bound(1), high = bound(2);
    if (low == 0.0f && high == 6.0f) return Function::kRelu6;
    if (low == 0.0f && node.input(2) == kNoValue) return Function::kRelu;
    return std::nullopt;
}

struct Row {
    Operator op;
    void (*lower)(Compilation&, const Node&);
    compile::Reason (*reason)(const Asked&) = nullptr;
    OptionalFunction (*function)(const Graph&, const Node&) = nullptr;  ///< of the vector unit
};

using enum Operator;

constexpr Row kRows[] = {
    {kConv, lower_product, reason_product},
    {kGemm, lower_product, reason_product},
    {kMatMul, lower_product, reason_product},

    {kAbs, lower_unary, reason_unary, always<Function::kAbs>},
    {kCast, lower_unary, reason_unary},
    {kDequantizeLinear, lower_unary, reason_unary},
    {kElu, lower_unary, reason_unary},
    {kErf, lower_unary, reason_unary, always<Function::kErf>},
    {kExp, lower_unary, reason_unary, always<Function::kExp>},
    {kFloor, lower_unary, reason_unary, always<Function::kFloor>},
    {kGelu, lower_unary, reason_unary, gelu},
    {kHardSigmoid, lower_unary, reason_unary, hard_sigmoid},
    {kHardSwish, lower_unary, reason_unary, always<Function::kHardSwish>},
    {kLeakyRelu, lower_unary, reason_unary, leaky_relu},
    {kLog, lower_unary, reason_unary, always<Function::kLog>},
    {kNeg, lower_unary, reason_unary, always<Function::kNegate>},
    {kQuantizeLinear, lower_unary, reason_unary},
    {kReciprocal, lower_unary, reason_unary, always<Function::kReciprocal>},
    {kRelu, lower_unary, reason_unary, always<Function::kRelu>},
    {kSigmoid, lower_unary, reason_unary, always<Function::kSigmoid>},
    {kSoftplus, lower_unary, reason_unary, always<Function::kSoftplus>},
    {kSqrt, lower_unary, reason_unary, always<Function::kSqrt>},
    {kTanh, lower_unary, reason_unary, always<Function::kTanh>},

    {kAdd, lower_binary, reason_binary, always<Function::kAdd>},
    {kDiv, lower_binary, reason_binary, always<Function::kDivide>},
    {kEqual, lower_binary, reason_binary, always<Function::kEqual>},
    {kLess, lower_binary, reason_binary, always<Function::kLess>},
    {kMax, lower_binary, reason_binary, always<Function::kMaximum>},
    {kMin, lower_binary, reason_binary, always<Function::kMinimum>},
    {kMul, lower_binary, reason_binary, always<Function::kMultiply>},
    {kPow, lower_binary, reason_binary, always<Function::kPower>},
    {kSub, lower_binary, reason_binary, always<Function::kSubtract>},

    {kClip, lower_clip, reason_clip, clip},
    {kWhere, lower_choice, reason_choice},

    {kAveragePool, lower_pool, reason_pool},
    {kGlobalAveragePool, lower_pool, reason_pool},
    {kMaxPool, lower_pool, reason_pool},

    {kLayerNormalization, lower_layer_normalisation, reason_row},
    {kReduceMax, lower_reduction, reason_reduction},
    {kReduceMean, lower_reduction, reason_reduction},
    {kReduceSum, lower_reduction, reason_reduction},
    {kSoftmax, lower_softmax, reason_softmax},

    {kConcat, lower_concat, reason_concat},
    {kExpand, lower_expand},
    {kFlatten, lower_view},
    {kGather, lower_gather, reason_gather},
    {kIdentity, lower_view},
    {kPad, lower_pad, reason_pad},
    {kReshape, lower_view},
    {kSlice, lower_view, reason_view},
    {kSplit, lower_view},
    {kSqueeze, lower_view},
    {kTranspose, lower_view},
    {kUnsqueeze, lower_view},
};

const Row* row_of(Operator op) {
    const auto* row = std::ranges::find(kRows, op, &Row::op);
    return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

bool Asked::is_fixed_point() const {
    return target.fixed_point && is_quantised(graph, node);
}

compile::Reason core_lacks(const Asked& a) {
    if (a.target.generation >= 2) return std::nullopt;
    const auto is_integer = [&](ValueId id) {
        return a.graph.value(id).quantisation.has_value() && !is_floating(a.graph.value(id).type);
    };
    for (const ValueId id : a.node.inputs)
        if (id != kNoValue && !is_given(a.graph.value(id)) && !is_integer(id))
            return fmt::format("takes {}", name_of(a.graph.value(id).type));
    for (const ValueId id : a.node.outputs)
        if (id != kNoValue && !is_integer(id))
            return fmt::format("gives {}", name_of(a.graph.value(id).type));
    const OperatorInfo& info = info_of(a.node.op);
    if (info.product != ProductForm::kNone &&
        !is_given(a.graph.value(a.node.inputs.at(info.weight))))
        return "a product of two values that are computed";
    return std::nullopt;
}

compile::Reason can_lower(const Asked& asked) {
    if (const compile::Reason reason = core_lacks(asked)) return reason;
    const Row* row = row_of(asked.node.op);
    if (row == nullptr) return "the vector unit has no such operation";
    return row->reason == nullptr ? std::nullopt : row->reason(asked);
}

void lower(Compilation& c, const Node& node) {
    const Row* row = row_of(node.op);
    LOCKSTEP_CHECK(row != nullptr, "{} has no lowering", name_of(node.op));
    row->lower(c, node);
}

std::optional<Function> function_of(const Graph& graph, const Node& node) {
    const Row* row = row_of(node.op);
    const bool has_one = row != nullptr && row->function != nullptr && row->lower != lower_binary;
    return has_one ? row->function(graph, node) : std::nullopt;
}

Function binary_function_of(const Graph& graph, const Node& node) {
    const Row* row = row_of(node.op);
    LOCKSTEP_CHECK(row != nullptr && row->lower == lower_binary, "{}", node.name);
    return *row->function(graph, node);
}

std::optional<Function> fused_function(const Graph& graph, const Node& node) {
    if (!is_quantised(graph, node))
        return graph.value(node.outputs[0]).quantisation ? std::nullopt : function_of(graph, node);
    if (node.op != kRelu && node.op != kClip) return std::nullopt;
    const Value &in = graph.value(node.inputs[0]), &out = graph.value(node.outputs[0]);
    if (in.type != out.type || in.quantisation->scale != out.quantisation->scale ||
        in.quantisation->zero_point != out.quantisation->zero_point)
        return std::nullopt;
    // A Clip may be no more than the saturation of the type.
    const std::vector<std::int32_t> table = activation_table(graph, node);
    const std::int32_t zero = in.quantisation->zero_point[0], low = range_of(in.type).low;
    bool identity = true, rectifier = true;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::int32_t x = low + static_cast<std::int32_t>(i);
        identity &= table[i] == x;
        rectifier &= table[i] == std::max(x, zero);
    }
    if (!identity && !rectifier) return std::nullopt;
    return identity ? Function::kIdentity : Function::kRelu;
}

}  // namespace lockstep::network::lowering
