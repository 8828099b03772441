// SPDX-License-Identifier: Apache-2.0
// A network as a graph: nodes (operators) that compute values (tensors) from values.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "workloads/network/graph/operators.h"
#include "workloads/network/graph/tensor.h"

namespace lockstep::network {

using ValueId = std::uint32_t;
/// An optional input or output that is left out.
inline constexpr ValueId kNoValue = UINT32_MAX;

enum class ValueKind : std::uint8_t {
    kInput,      ///< given at every run
    kParameter,  ///< a trained weight
    kConstant,   ///< any other value known before the run (running means, masks, folded results)
    kComputed,   ///< a node's output
};

/// real = scale * (stored - zero_point); one pair for the tensor, or one for each slice of `axis`.
struct Quantisation {
    std::vector<float> scale;
    std::vector<std::int32_t> zero_point;
    std::optional<std::int64_t> axis;
    /// Of the stored values, which may need less than their type has: 4 or 2; 0: all.
    int bits = 0;
    bool operator==(const Quantisation&) const = default;
};

struct Value {
    std::string name;
    ValueKind kind = ValueKind::kComputed;
    ElementType type = ElementType::kFp32;
    std::optional<Shape> shape;  ///< known for all once infer_shapes has run
    /// Of parameters and constants; null in a network that was built for its shapes alone.
    std::shared_ptr<const Tensor> data;
    std::optional<Quantisation> quantisation;

    bool is_known() const { return data != nullptr; }
};

using Attribute =
    std::variant<std::int64_t, float, std::string, std::shared_ptr<const Tensor>,
                 std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>>;

struct Node {
    std::string name;
    Operator op = Operator::kIdentity;
    std::vector<ValueId> inputs;  ///< kNoValue where an optional one is left out
    std::vector<ValueId> outputs;
    std::map<std::string, Attribute, std::less<>> attributes;

    bool has(std::string_view attribute) const { return attributes.contains(attribute); }
    std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
    float real(std::string_view attribute, float otherwise) const;
    std::string text(std::string_view attribute, std::string_view otherwise) const;
    std::vector<std::int64_t> integers(std::string_view attribute,
                                       std::vector<std::int64_t> otherwise = {}) const;
    /// The i-th input, kNoValue where it is left out.
    ValueId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
};

struct Graph {
    std::string name;
    std::vector<Value> values;
    std::vector<Node> nodes;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;

    ValueId add(Value value);
    const Value& value(ValueId id) const { return values.at(id); }
    /// The shape of a value; InternalError before it is inferred.
    const Shape& shape(ValueId id) const;
};

/// Checks arities, attributes and their kinds, that every value is written once and before it is
/// read, that data has its value's type and shape, and that quantisation fits. InputError.
void validate(const Graph& graph);

/// The nodes' indices such that each comes after those it reads from; among several that could come
/// next, the one that was listed first. InputError naming a node of a cycle.
std::vector<std::size_t> topological_order(const Graph& graph);

/// The elements of all parameters that a node reads.
std::int64_t parameter_count(const Graph& graph);

/// One line a value that is given, one line a node:
///   /conv1 Conv(x:fp32[1,3,8,8], w:fp32[4,3,3,3]) -> y:fp32[1,4,6,6] {pads=[0,0,0,0]}
std::string dump(const Graph& graph);

}  // namespace lockstep::network
