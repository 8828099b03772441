// SPDX-License-Identifier: Apache-2.0
// From StableHLO's operations to the graph's operators. StableHLO broadcasts by operations of their
// own, the graph's elementwise operators by themselves: a broadcast value stays as it is, with
// extents of 1, until an operator needs all of its elements.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/network/decompose/node_writer.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/stablehlo/reader.h"
#include "workloads/network/stablehlo/syntax.h"

namespace lockstep::network::stablehlo {

/// Why an operation cannot be lowered; caught where operations are walked.
struct Refusal {
    std::string reason;
};

using Integers = std::vector<std::int64_t>;

/// A value of the module: the graph's has this shape, or 1 in place of some extents.
struct Wide {
    ValueId id = kNoValue;  ///< kNoValue: of an operation that was refused
    Shape shape;
};

class Lowering : public NodeWriter {
  public:
    Lowering(const Module& module, const std::string& file, const StablehloOptions& options);
    Graph run();

    // What the families of operations are written with.

    const Wide& operand(const Operation& op, std::size_t i) const;
    ElementType type_of(const Wide& wide) const { return type(wide.id); }
    /// The value with all its elements.
    ValueId whole(const Wide& wide);
    ValueId whole(const Operation& op, std::size_t i) { return whole(operand(op, i)); }
    /// A node over values as they are; computed at once where all of them are small and known.
    ValueId make(Operator op, const std::string& suffix, const std::vector<ValueId>& inputs,
                 NodeAttributes attributes = {});
    /// The same of an operator with several outputs.
    std::vector<ValueId> make_several(Operator op, const std::vector<ValueId>& inputs,
                                      NodeAttributes attributes, std::int64_t outputs);
    ValueId number(ElementType element, double value);
    /// A constant; real ones of several values count as trained.
    ValueId given(Tensor tensor);
    /// One that is not: what follows from shapes alone.
    ValueId counted(Tensor tensor) { return constant(name_for("count"), std::move(tensor)); }
    ValueId shaped(ValueId id, const Shape& shape);
    /// Networks with their channels last have transpositions about each operator that wants them
    /// second: two in a row are one or none, and elementwise operators are done before one.
    ValueId permuted(ValueId id, const Integers& perm);
    /// What a value is the transposition of, and how; or the value and nothing.
    struct Permuted {
        ValueId from = kNoValue;
        Integers perm;
    };
    Permuted permutation_of(ValueId id) const;
    /// What a value is a reshape of, or itself.
    ValueId unshaped(ValueId id) const;
    /// Elements [starts, limits) of each dimension, by its stride, which may be negative.
    ValueId sliced(ValueId id, const Integers& starts, const Integers& limits,
                   const Integers& strides);
    /// Elements before, behind and (interior) between those of each dimension; negative ones are
    /// taken away.
    ValueId padded(ValueId id, ValueId value, const Integers& low, const Integers& high,
                   const Integers& interior);
    bool is_given(ValueId id) const { return network::is_given(made_.value(id)); }
    /// The values of a small value that is known.
    std::optional<std::vector<double>> known(ValueId id) const;
    /// The one value that all elements of a known value have.
    std::optional<double> splat(ValueId id) const;

    void set(const Operation& op, std::size_t i, ValueId id);
    void set(const Operation& op, ValueId id) { set(op, 0, id); }

    // Regions and functions.
    /// Lowers a region with these arguments; gives what it returns.
    std::vector<Wide> inline_region(const Region& region, const std::vector<Wide>& arguments);
    std::vector<Wide> inline_function(std::string_view name, const std::vector<Wide>& arguments);
    void set_all(const Operation& op, const std::vector<Wide>& values);

    /// Sums, by windows or over dimensions, for the division that makes averages of them.
    struct Sums {
        std::function<ValueId(bool)> averages;  ///< padding counted in, or not
        double window;                          ///< elements of a sum, padding counted in
        Tensor counts;                          ///< of each sum, padding not counted in
    };
    std::map<ValueId, Sums> sums;

  private:
    using Scope = std::map<std::string, Wide, std::less<>>;

    void lower_all(const Region& region);
    void lower(const Operation& op);
    std::shared_ptr<const Tensor> weight(const TensorType& wanted, std::int64_t index) const;
    std::string name_for(const std::string& suffix);
    /// A node by itself over copies of its operands, its result's type and shape inferred.
    struct Alone {
        Graph graph;
        ValueId result = kNoValue;
    };
    Alone alone(const std::string& name, Operator op, const std::vector<ValueId>& inputs,
                const NodeAttributes& attributes) const;
    static Tensor computed(const Alone& single);
    std::optional<ValueId> moved_weight(const std::string& name, Operator op,
                                        const std::vector<ValueId>& inputs,
                                        const NodeAttributes& attributes);
    ValueId fold(const std::string& name, Operator op, const std::vector<ValueId>& inputs,
                 const NodeAttributes& attributes);
    std::optional<ValueId> before_transposition(Operator op, const std::string& suffix,
                                                const std::vector<ValueId>& inputs,
                                                const NodeAttributes& attributes);
    bool is_foldable(Operator op, const std::vector<ValueId>& inputs) const;

    const Module& module_;
    const std::string& file_;
    const StablehloOptions& options_;
    Graph made_;
    std::vector<Scope> scopes_;
    std::size_t visible_ = 0;  ///< scopes before this one are another function's
    std::vector<Wide> returned_;
    const Operation* current_ = nullptr;
    std::map<std::string, int> names_;
    std::map<ValueId, ValueId> reshaped_from_;
    std::map<ValueId, Permuted> permuted_from_;
    std::map<std::pair<ValueId, Shape>, ValueId> expanded_;
    std::vector<std::string> unsupported_;
    int depth_ = 0;
    std::size_t operations_ = 0;
};

Integers inverse(const Integers& perm);

// Attributes of operations.
Integers integers_of(const AttributeValue& value);
Integers integers(const Operation& op, std::string_view name, Integers otherwise = {});
std::string text(const Operation& op, std::string_view name);
const AttributeValue* find(const Operation& op, std::string_view name);

/// One operation by one function.
using Lower = void (*)(Lowering&, const Operation&);
using Family = std::map<std::string_view, Lower>;
const Family& elementwise_family();
const Family& movement_family();
const Family& product_family();
const Family& reduction_family();
const Family& control_family();

}  // namespace lockstep::network::stablehlo
