// SPDX-License-Identifier: Apache-2.0
// The operators of a network: ONNX's names and meanings (opset 17 unless said otherwise).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::network {

// clang-format off
#define LOCKSTEP_NETWORK_OPERATORS(X) \
    X(Abs) X(Acos) X(Add) X(And) X(ArgMax) X(ArgMin) X(Asin) X(Atan) X(AveragePool) \
    X(BatchNormalization) X(Cast) X(Ceil) X(Celu) X(Clip) X(Concat) X(Constant) \
    X(ConstantOfShape) X(Conv) X(ConvInteger) X(ConvTranspose) X(Cos) X(Cosh) X(CumSum) \
    X(DepthToSpace) X(DequantizeLinear) X(Div) X(Dropout) X(DynamicQuantizeLinear) X(Einsum) \
    X(Elu) X(Equal) X(Erf) X(Exp) X(Expand) X(Flatten) X(Floor) X(GRU) X(Gather) \
    X(GatherElements) X(GatherND) X(Gelu) X(Gemm) X(GlobalAveragePool) X(GlobalMaxPool) \
    X(Greater) X(GreaterOrEqual) X(HardSigmoid) X(HardSwish) X(Identity) \
    X(InstanceNormalization) X(IsInf) X(IsNaN) X(LRN) X(LSTM) X(LayerNormalization) \
    X(LeakyRelu) X(Less) X(LessOrEqual) X(Log) X(LogSoftmax) X(MatMul) X(MatMulInteger) X(Max) \
    X(MaxPool) X(Mean) X(Min) X(Mod) X(Mul) X(Neg) X(Not) X(OneHot) X(Or) X(PRelu) X(Pad) \
    X(Pow) X(QLinearConv) X(QLinearMatMul) X(QuantizeLinear) X(RNN) X(Range) X(Reciprocal) \
    X(ReduceL1) X(ReduceL2) X(ReduceLogSum) X(ReduceLogSumExp) X(ReduceMax) X(ReduceMean) \
    X(ReduceMin) X(ReduceProd) X(ReduceSum) X(ReduceSumSquare) X(Relu) X(Reshape) X(Resize) \
    X(Round) X(ScatterElements) X(ScatterND) X(Selu) X(Shape) X(Shrink) X(Sigmoid) X(Sign) \
    X(Sin) X(Sinh) X(Size) X(Slice) X(Softmax) X(Softplus) X(Softsign) X(SpaceToDepth) X(Split) \
    X(Sqrt) X(Squeeze) X(Sub) X(Sum) X(Tan) X(Tanh) X(ThresholdedRelu) X(Tile) X(TopK) \
    X(Transpose) X(Trilu) X(Unsqueeze) X(Where) X(Xor)
// clang-format on

enum class Operator : uint8_t {
#define LOCKSTEP_NETWORK_ENUMERATOR(name) k##name,
    LOCKSTEP_NETWORK_OPERATORS(LOCKSTEP_NETWORK_ENUMERATOR)
#undef LOCKSTEP_NETWORK_ENUMERATOR
};

/// What an operator may have. `attributes` is a list of name:kind, the kinds i f s t and I F S for
/// integer, float, string, tensor and lists of them.
struct OperatorInfo {
    Operator op;
    std::string_view name;
    size_t minimum_inputs, maximum_inputs;
    size_t minimum_outputs, maximum_outputs;
    std::string_view attributes;
};

const OperatorInfo& info_of(Operator op);
std::string_view name_of(Operator op);
std::optional<Operator> operator_named(std::string_view name);

/// The kind letter of an operator's attribute, or nothing where it has no such attribute.
std::optional<char> attribute_kind(Operator op, std::string_view attribute);

}  // namespace lockstep::network
