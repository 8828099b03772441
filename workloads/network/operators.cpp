// SPDX-License-Identifier: Apache-2.0
// The operators' arities and attributes as one table. Source: the ONNX operator reference
// (onnx.ai/onnx/operators). Attributes that became inputs in later opsets (axes, split) are kept in
// both forms. `flatten` of Softmax is ours: the meaning before opset 13 (all dimensions from the
// axis on are normalised together). So is MatMul's third input, a bias over the columns.
#include "workloads/network/operators.h"

#include "sim/error/error.h"

#include <algorithm>
#include <iterator>

namespace lockstep::network {

namespace {

constexpr size_t kMany = SIZE_MAX;

#define OP(name) Operator::k##name, #name
constexpr OperatorInfo kOperators[] = {
    {OP(Abs), 1, 1, 1, 1, ""},
    {OP(Acos), 1, 1, 1, 1, ""},
    {OP(Add), 2, 2, 1, 1, ""},
    {OP(And), 2, 2, 1, 1, ""},
    {OP(ArgMax), 1, 1, 1, 1, "axis:i keepdims:i select_last_index:i"},
    {OP(ArgMin), 1, 1, 1, 1, "axis:i keepdims:i select_last_index:i"},
    {OP(Asin), 1, 1, 1, 1, ""},
    {OP(Atan), 1, 1, 1, 1, ""},
    {OP(AveragePool), 1, 1, 1, 1,
     "auto_pad:s ceil_mode:i count_include_pad:i kernel_shape:I pads:I strides:I"},
    {OP(BatchNormalization), 5, 5, 1, 1, "epsilon:f momentum:f training_mode:i"},
    {OP(Cast), 1, 1, 1, 1, "to:i"},
    {OP(Ceil), 1, 1, 1, 1, ""},
    {OP(Celu), 1, 1, 1, 1, "alpha:f"},
    {OP(Clip), 1, 3, 1, 1, ""},
    {OP(Concat), 1, kMany, 1, 1, "axis:i"},
    {OP(Constant), 0, 0, 1, 1, "value:t value_float:f value_floats:F value_int:i value_ints:I"},
    {OP(ConstantOfShape), 1, 1, 1, 1, "value:t"},
    {OP(Conv), 2, 3, 1, 1, "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {OP(ConvInteger), 2, 4, 1, 1, "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {OP(ConvTranspose), 2, 3, 1, 1,
     "auto_pad:s dilations:I group:i kernel_shape:I output_padding:I output_shape:I pads:I "
     "strides:I"},
    {OP(Cos), 1, 1, 1, 1, ""},
    {OP(Cosh), 1, 1, 1, 1, ""},
    {OP(CumSum), 2, 2, 1, 1, "exclusive:i reverse:i"},
    {OP(DepthToSpace), 1, 1, 1, 1, "blocksize:i mode:s"},
    {OP(DequantizeLinear), 2, 3, 1, 1, "axis:i"},
    {OP(Div), 2, 2, 1, 1, ""},
    {OP(Dropout), 1, 3, 1, 2, "ratio:f seed:i"},
    {OP(DynamicQuantizeLinear), 1, 1, 3, 3, ""},
    {OP(Einsum), 1, kMany, 1, 1, "equation:s"},
    {OP(Elu), 1, 1, 1, 1, "alpha:f"},
    {OP(Equal), 2, 2, 1, 1, ""},
    {OP(Erf), 1, 1, 1, 1, ""},
    {OP(Exp), 1, 1, 1, 1, ""},
    {OP(Expand), 2, 2, 1, 1, ""},
    {OP(Flatten), 1, 1, 1, 1, "axis:i"},
    {OP(Floor), 1, 1, 1, 1, ""},
    {OP(GRU), 3, 6, 0, 2, "activations:S direction:s hidden_size:i layout:i linear_before_reset:i"},
    {OP(Gather), 2, 2, 1, 1, "axis:i"},
    {OP(GatherElements), 2, 2, 1, 1, "axis:i"},
    {OP(GatherND), 2, 2, 1, 1, "batch_dims:i"},
    {OP(Gelu), 1, 1, 1, 1, "approximate:s"},
    {OP(Gemm), 2, 3, 1, 1, "alpha:f beta:f transA:i transB:i"},
    {OP(GlobalAveragePool), 1, 1, 1, 1, ""},
    {OP(GlobalMaxPool), 1, 1, 1, 1, ""},
    {OP(Greater), 2, 2, 1, 1, ""},
    {OP(GreaterOrEqual), 2, 2, 1, 1, ""},
    {OP(HardSigmoid), 1, 1, 1, 1, "alpha:f beta:f"},
    {OP(HardSwish), 1, 1, 1, 1, ""},
    {OP(Identity), 1, 1, 1, 1, ""},
    {OP(InstanceNormalization), 3, 3, 1, 1, "epsilon:f"},
    {OP(IsInf), 1, 1, 1, 1, "detect_negative:i detect_positive:i"},
    {OP(IsNaN), 1, 1, 1, 1, ""},
    {OP(LRN), 1, 1, 1, 1, "alpha:f beta:f bias:f size:i"},
    {OP(LSTM), 3, 8, 0, 3, "activations:S direction:s hidden_size:i input_forget:i layout:i"},
    {OP(LayerNormalization), 2, 3, 1, 1, "axis:i epsilon:f stash_type:i"},
    {OP(LeakyRelu), 1, 1, 1, 1, "alpha:f"},
    {OP(Less), 2, 2, 1, 1, ""},
    {OP(LessOrEqual), 2, 2, 1, 1, ""},
    {OP(Log), 1, 1, 1, 1, ""},
    {OP(LogSoftmax), 1, 1, 1, 1, "axis:i flatten:i"},
    {OP(MatMul), 2, 3, 1, 1, ""},
    {OP(MatMulInteger), 2, 4, 1, 1, ""},
    {OP(Max), 1, kMany, 1, 1, ""},
    {OP(MaxPool), 1, 1, 1, 1,
     "auto_pad:s ceil_mode:i dilations:I kernel_shape:I pads:I storage_order:i strides:I"},
    {OP(Mean), 1, kMany, 1, 1, ""},
    {OP(Min), 1, kMany, 1, 1, ""},
    {OP(Mod), 2, 2, 1, 1, "fmod:i"},
    {OP(Mul), 2, 2, 1, 1, ""},
    {OP(Neg), 1, 1, 1, 1, ""},
    {OP(Not), 1, 1, 1, 1, ""},
    {OP(OneHot), 3, 3, 1, 1, "axis:i"},
    {OP(Or), 2, 2, 1, 1, ""},
    {OP(PRelu), 2, 2, 1, 1, ""},
    {OP(Pad), 2, 3, 1, 1, "mode:s"},
    {OP(Pow), 2, 2, 1, 1, ""},
    {OP(QLinearConv), 8, 9, 1, 1, "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {OP(QLinearMatMul), 8, 8, 1, 1, ""},
    {OP(QuantizeLinear), 2, 3, 1, 1, "axis:i"},
    {OP(RNN), 3, 6, 0, 2, "activations:S direction:s hidden_size:i layout:i"},
    {OP(Range), 3, 3, 1, 1, ""},
    {OP(Reciprocal), 1, 1, 1, 1, ""},
    {OP(ReduceL1), 1, 1, 1, 1, "axes:I keepdims:i"},
    {OP(ReduceL2), 1, 1, 1, 1, "axes:I keepdims:i"},
    {OP(ReduceLogSum), 1, 1, 1, 1, "axes:I keepdims:i"},
    {OP(ReduceLogSumExp), 1, 1, 1, 1, "axes:I keepdims:i"},
    {OP(ReduceMax), 1, 1, 1, 1, "axes:I keepdims:i"},
    {OP(ReduceMean), 1, 1, 1, 1, "axes:I keepdims:i"},
    {OP(ReduceMin), 1, 1, 1, 1, "axes:I keepdims:i"},
    {OP(ReduceProd), 1, 1, 1, 1, "axes:I keepdims:i"},
    {OP(ReduceSum), 1, 2, 1, 1, "axes:I keepdims:i noop_with_empty_axes:i"},
    {OP(ReduceSumSquare), 1, 1, 1, 1, "axes:I keepdims:i"},
    {OP(Relu), 1, 1, 1, 1, ""},
    {OP(Reshape), 2, 2, 1, 1, "allowzero:i"},
    {OP(Resize), 1, 4, 1, 1,
     "coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i extrapolation_value:f "
     "mode:s nearest_mode:s"},
    {OP(Round), 1, 1, 1, 1, ""},
    {OP(ScatterElements), 3, 3, 1, 1, "axis:i reduction:s"},
    {OP(ScatterND), 3, 3, 1, 1, "reduction:s"},
    {OP(Selu), 1, 1, 1, 1, "alpha:f gamma:f"},
    {OP(Shape), 1, 1, 1, 1, "end:i start:i"},
    {OP(Shrink), 1, 1, 1, 1, "bias:f lambd:f"},
    {OP(Sigmoid), 1, 1, 1, 1, ""},
    {OP(Sign), 1, 1, 1, 1, ""},
    {OP(Sin), 1, 1, 1, 1, ""},
    {OP(Sinh), 1, 1, 1, 1, ""},
    {OP(Size), 1, 1, 1, 1, ""},
    {OP(Slice), 3, 5, 1, 1, ""},
    {OP(Softmax), 1, 1, 1, 1, "axis:i flatten:i"},
    {OP(Softplus), 1, 1, 1, 1, ""},
    {OP(Softsign), 1, 1, 1, 1, ""},
    {OP(SpaceToDepth), 1, 1, 1, 1, "blocksize:i"},
    {OP(Split), 1, 2, 1, kMany, "axis:i split:I"},
    {OP(Sqrt), 1, 1, 1, 1, ""},
    {OP(Squeeze), 1, 2, 1, 1, "axes:I"},
    {OP(Sub), 2, 2, 1, 1, ""},
    {OP(Sum), 1, kMany, 1, 1, ""},
    {OP(Tan), 1, 1, 1, 1, ""},
    {OP(Tanh), 1, 1, 1, 1, ""},
    {OP(ThresholdedRelu), 1, 1, 1, 1, "alpha:f"},
    {OP(Tile), 2, 2, 1, 1, ""},
    {OP(TopK), 2, 2, 2, 2, "axis:i largest:i sorted:i"},
    {OP(Transpose), 1, 1, 1, 1, "perm:I"},
    {OP(Trilu), 1, 2, 1, 1, "upper:i"},
    {OP(Unsqueeze), 1, 2, 1, 1, "axes:I"},
    {OP(Where), 3, 3, 1, 1, ""},
    {OP(Xor), 2, 2, 1, 1, ""},
};
#undef OP

constexpr bool in_order() {
    for (size_t i = 0; i < std::size(kOperators); ++i)
        if (static_cast<size_t>(kOperators[i].op) != i) return false;
    return true;
}
static_assert(in_order(), "the table has the enumeration's order");

}  // namespace

const OperatorInfo& info_of(Operator op) {
    const auto index = static_cast<size_t>(op);
    LOCKSTEP_CHECK(index < std::size(kOperators), "operator {}", index);
    return kOperators[index];
}

std::string_view name_of(Operator op) {
    return info_of(op).name;
}

std::optional<Operator> operator_named(std::string_view name) {
    for (const OperatorInfo& info : kOperators)
        if (info.name == name) return info.op;
    return std::nullopt;
}

std::optional<char> attribute_kind(Operator op, std::string_view attribute) {
    std::string_view list = info_of(op).attributes;
    while (!list.empty()) {
        const size_t colon = list.find(':');
        if (list.substr(0, colon) == attribute) return list[colon + 1];
        list.remove_prefix(std::min(list.size(), colon + 3));
    }
    return std::nullopt;
}

}  // namespace lockstep::network
