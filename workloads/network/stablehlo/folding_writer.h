// SPDX-License-Identifier: Apache-2.0
// Writes nodes as StableHLO has them. What follows from small known values is computed at once; a
// weight that is moved is a weight; reshapes and transpositions in a row are one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/network/decompose/node_writer.h"
#include "workloads/network/graph/given.h"

namespace lockstep::network::stablehlo {

/// Why an operation cannot be lowered; caught where operations are walked.
struct Refusal {
    std::string reason;
};

using Integers = std::vector<std::int64_t>;

class FoldingWriter : public NodeWriter {
  public:
    explicit FoldingWriter(Graph& graph) : NodeWriter(graph) {}
    virtual ~FoldingWriter() = default;

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
    bool is_given(ValueId id) const { return network::is_given(graph_.value(id)); }
    /// The values of a small value that is known.
    std::optional<std::vector<double>> known(ValueId id) const;
    /// The one value that all elements of a known value have.
    std::optional<double> splat(ValueId id) const;

  protected:
    /// A name that no node has yet: of the operation, and what the node does for it.
    std::string name_for(const std::string& suffix);

  private:
    /// Of the operation that is lowered.
    virtual std::string base_name() const = 0;
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

    std::map<std::string, int> names_;
    std::map<ValueId, ValueId> reshaped_from_;
    std::map<ValueId, Permuted> permuted_from_;
};

Integers inverse(const Integers& perm);

}  // namespace lockstep::network::stablehlo
