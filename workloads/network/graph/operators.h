// SPDX-License-Identifier: Apache-2.0
// The operators of a network: ONNX's names and meanings, and what passes ask of one instead of
// listing it. The rows are in operators.table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::network {

enum class Operator : std::uint8_t {
#define OPERATOR(name, ...) k##name,
#define COMPOSITE(name, ...) k##name,
#include "workloads/network/graph/operators.table"
};

/// What a node may be in a layer that runs in one pass: a product, and what happens to its sums on
/// their way out of the accumulators. A machine may have hardware for less, or for more.
enum class LayerRole : std::uint8_t {
    kNone,
    kProduct,     ///< begins a layer
    kActivation,  ///< a nonlinearity; its other inputs (the bounds of Clip) are constants
    kAddend,      ///< a bias, or a residual
    kFactor,      ///< a scale
    kDivisor,     ///< a scale, where the sums are the dividend
    kPooling,     ///< over windows of an image; ends the layer
};

/// How a node computes on stored integers (reference/quantised.h).
enum class IntegerForm : std::uint8_t {
    kNone,         ///< not at all: it runs on real values
    kProduct,      ///< sums of products in int32, requantised
    kCombination,  ///< of several elements, each with its scale; the result has a scale of its own
    kTable,        ///< any function of one element, an entry for each stored value
    kSameScale,    ///< elements of its first operand, some maybe dropped or added
    kSameValues,   ///< the elements of its first operand, in other places
    kRows,  ///< rows by themselves, in fixed point (reference/tflite.h, sim/numerics); not on every
            ///< machine
};

/// How a node multiplies matrices (products.h).
enum class ProductForm : std::uint8_t { kNone, kConvolution, kGemm, kMatrices, kRecurrent };

/// The class of work for each element on a general processor (compile/cost.cpp).
enum class Work : std::uint8_t {
    kView,           ///< none: the same bytes in another shape
    kPart,           ///< the elements of the result are moved, the operand's others not even read
    kMove,           ///< elements are moved
    kSimple,         ///< one operation
    kScaling,        ///< a product, a sum and a conversion
    kNormalisation,  ///< mean, deviation and its square, scale and bias
    kFunction,       ///< a polynomial, a division or a root
    kSoftmax,        ///< kFunction, with a maximum or square, a difference, a sum and a factor
};

struct OperatorInfo {
    Operator op;
    std::string_view name;
    std::size_t minimum_inputs, maximum_inputs;
    std::size_t minimum_outputs, maximum_outputs;
    /// A list of name:kind, the kinds i f s t and I F S for integer, float, string, tensor and
    /// lists of them.
    std::string_view attributes;
    bool is_composite = false;  ///< always written with other operators (decompose/)

    LayerRole role = LayerRole::kNone;
    IntegerForm integers = IntegerForm::kNone;
    ProductForm product = ProductForm::kNone;
    std::size_t weight = 1;  ///< of a product: which input is the right operand
    Work work = Work::kSimple;
};

const OperatorInfo& info_of(Operator op);
std::string_view name_of(Operator op);
std::optional<Operator> operator_named(std::string_view name);
/// How many there are: the values of Operator are 0 to this.
std::size_t operator_count();

/// The kind letter of an operator's attribute, or nothing where it has no such attribute.
std::optional<char> attribute_kind(Operator op, std::string_view attribute);

/// The result has the scale of its first operand.
bool keeps_scale(Operator op);
/// The same elements, seen in another shape or order of dimensions.
bool is_view(Operator op);
/// A window slides over its first operand, an image: a convolution or a pooling of parts of it.
bool has_window(Operator op);

}  // namespace lockstep::network
