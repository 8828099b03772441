// SPDX-License-Identifier: Apache-2.0
// Makes graphs in code: each call adds a node, infers its shape and gives its first output.
#pragma once

#include <initializer_list>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

using Attributes = std::map<std::string, Attribute, std::less<>>;

/// fp32 values, uniform in [centre - spread, centre + spread): a hash of the stream and the
/// element.
Tensor seeded_tensor(Shape shape, std::uint64_t stream, float spread, float centre);

class Builder {
  public:
    /// Weights come from `seed`, the same for every machine and compiler; without values the graph
    /// has their shapes only.
    Builder(std::string name, std::uint64_t seed, bool with_values = true);

    ValueId input(std::string name, ElementType type, Shape shape);
    /// A trained weight, uniform in [centre - spread, centre + spread).
    ValueId weight(std::string name, Shape shape, float spread, float centre = 0);
    /// Like a weight, but not trained (a running mean).
    ValueId statistic(std::string name, Shape shape, float spread, float centre);
    ValueId constant(std::string name, Tensor tensor);
    /// A weight with these values; none where the graph has none.
    ValueId parameter(std::string name, Tensor tensor);

    ValueId node(Operator op, std::string name, std::vector<ValueId> inputs,
                 Attributes attributes = {}, std::size_t outputs = 1);

    struct ConvolutionOptions {
        std::int64_t stride = 1;
        std::int64_t pad = 0;
        std::int64_t group = 1;
        bool bias = false;
    };
    /// Square kernels over [n, c, h, w].
    ValueId convolution(const std::string& name, ValueId x, std::int64_t channels,
                        std::int64_t kernel, ConvolutionOptions options);
    ValueId batch_normalisation(const std::string& name, ValueId x);
    ValueId max_pool(const std::string& name, ValueId x, std::int64_t kernel, std::int64_t stride,
                     std::int64_t pad);
    /// y = x W + b over the last dimension: Gemm for matrices, else MatMul and Add.
    ValueId linear(const std::string& name, ValueId x, std::int64_t features);
    /// Of so many percent, in training; x itself where that is 0.
    ValueId dropout(const std::string& name, ValueId x, std::int64_t percent);
    ValueId layer_normalisation(const std::string& name, ValueId x, float epsilon);
    ValueId reshape(const std::string& name, ValueId x, Shape shape);
    ValueId transpose(const std::string& name, ValueId x, std::vector<std::int64_t> perm);

    const Shape& shape(ValueId id) const { return graph_.shape(id); }

    /// The validated graph.
    Graph finish(std::vector<ValueId> outputs);

  private:
    ValueId given(std::string name, Shape shape, float spread, float centre, ValueKind kind);

    Graph graph_;
    std::uint64_t seed_;
    bool with_values_;
};

}  // namespace lockstep::network
