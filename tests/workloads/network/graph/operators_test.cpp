// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/graph/operators.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace lockstep::network {
namespace {

/// The operators that a predicate holds for, in the table's order.
template <class F>
std::vector<std::string> those(F&& holds) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < operator_count(); ++i)
        if (const OperatorInfo& info = info_of(static_cast<Operator>(i)); holds(info))
            names.emplace_back(info.name);
    return names;
}

TEST(Operators, are_found_by_the_names_that_they_have) {
    for (std::size_t i = 0; i < operator_count(); ++i) {
        const auto op = static_cast<Operator>(i);
        EXPECT_EQ(info_of(op).op, op);
        EXPECT_EQ(operator_named(name_of(op)), op);
    }
    EXPECT_EQ(operator_named("Relu6"), std::nullopt);
}

TEST(Operators, take_no_fewer_inputs_than_they_need) {
    EXPECT_THAT(those([](const OperatorInfo& o) {
                    return o.minimum_inputs > o.maximum_inputs ||
                           o.minimum_outputs > o.maximum_outputs;
                }),
                testing::IsEmpty());
}

TEST(Operators, say_the_kinds_of_their_attributes) {
    EXPECT_EQ(attribute_kind(Operator::kConv, "pads"), 'I');
    EXPECT_EQ(attribute_kind(Operator::kConv, "group"), 'i');
    EXPECT_EQ(attribute_kind(Operator::kResize, "extrapolation_value"), 'f');
    EXPECT_EQ(attribute_kind(Operator::kResize, "value"), std::nullopt);
    EXPECT_EQ(attribute_kind(Operator::kRelu, "alpha"), std::nullopt);
}

TEST(Operators, that_are_activations_can_be_tables_but_not_all_tables_are_activations) {
    const auto activations =
        those([](const OperatorInfo& o) { return o.role == LayerRole::kActivation; });
    const auto tables =
        those([](const OperatorInfo& o) { return o.integers == IntegerForm::kTable; });
    EXPECT_THAT(tables, testing::IsSupersetOf(activations));
    // A change of sign is a table as well, but no nonlinearity that follows a product.
    EXPECT_THAT(those([](const OperatorInfo& o) {
                    return o.integers == IntegerForm::kTable && o.role != LayerRole::kActivation;
                }),
                testing::ElementsAre("Abs", "Neg"));
}

TEST(Operators, that_are_views_move_no_element_but_by_transposition) {
    EXPECT_THAT(those([](const OperatorInfo& o) { return is_view(o.op); }),
                testing::ElementsAre("Flatten", "Identity", "Reshape", "Squeeze", "Transpose",
                                     "Unsqueeze"));
}

TEST(Operators, that_keep_a_scale_need_not_keep_every_value) {
    EXPECT_THAT(those([](const OperatorInfo& o) {
                    return keeps_scale(o.op) && o.integers != IntegerForm::kSameValues;
                }),
                testing::ElementsAre("MaxPool", "Pad", "ResizeBilinear"));
}

TEST(Operators, begin_layers_where_their_sums_can_be_followed_by_others) {
    EXPECT_THAT(those([](const OperatorInfo& o) { return o.role == LayerRole::kProduct; }),
                testing::ElementsAre("Conv", "Gemm", "MatMul"));
    // ONNX's own integer products requantise by themselves, an LSTM has no sums to show.
    EXPECT_THAT(those([](const OperatorInfo& o) {
                    return o.product != ProductForm::kNone && o.role != LayerRole::kProduct;
                }),
                testing::ElementsAre("ConvInteger", "LSTM", "MatMulInteger", "QLinearConv",
                                     "QLinearMatMul"));
}

TEST(Operators, with_windows_cost_more_than_their_elements) {
    EXPECT_THAT(those([](const OperatorInfo& o) { return !o.is_composite && has_window(o.op); }),
                testing::ElementsAre("AveragePool", "Conv", "ConvInteger", "MaxPool", "MaxPoolGrad",
                                     "QLinearConv"));
}

TEST(Operators, that_only_show_a_value_in_another_shape_move_nothing) {
    EXPECT_THAT(those([](const OperatorInfo& o) { return o.work == Work::kView; }),
                testing::ElementsAre("Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"));
}

TEST(Operators, that_take_a_polynomial_a_division_or_a_root_are_functions) {
    for (const Operator op :
         {Operator::kAcos, Operator::kAsin, Operator::kAtan, Operator::kCos, Operator::kCosh,
          Operator::kDiv, Operator::kExp, Operator::kLog, Operator::kMod, Operator::kSin,
          Operator::kSinh, Operator::kSqrt, Operator::kTan, Operator::kTanh})
        EXPECT_EQ(info_of(op).work, Work::kFunction) << name_of(op);
}

}  // namespace
}  // namespace lockstep::network
