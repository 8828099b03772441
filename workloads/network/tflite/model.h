// SPDX-License-Identifier: Apache-2.0
// A model on its way into a graph: the file's tensors, and the values and nodes made of them.
// Images are NHWC in the file and NCHW in the graph.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workloads/network/graph/graph.h"
#include "workloads/network/tflite/flatbuffer.h"

namespace lockstep::network::tflite {

// Of TensorType.
inline constexpr std::int8_t kFloat32 = 0, kInt32 = 2, kInt8 = 9;
inline constexpr std::int64_t kMaximumExtent = 1 << 20;

/// The reader goes on to the next operator, to say what else is not supported.
struct Unsupported : InputError {
    using InputError::InputError;
};
[[noreturn]] void refuse(const std::string& reason);

struct TensorInfo {
    std::string name;
    Shape shape;  ///< as in the file
    std::int8_t type = 0;
    std::span<const std::uint8_t> data;
    std::optional<Quantisation> quantisation;
    ValueId value = kNoValue;
    Shape flat;  ///< c, h, w: the graph flattened an image in its own order
};

/// NHWC to the graph's NCHW, or any shape as it is.
Shape to_graph(const Shape& s);
std::int64_t axis_to_graph(std::int64_t axis, std::size_t rank);

class Model {
  public:
    using Attributes = decltype(Node::attributes);
    explicit Model(const Bytes& bytes) : bytes_(bytes) {}

    const std::string& name() const { return bytes_.name; }
    Graph& graph() { return graph_; }
    /// Nodes that are added are called after it.
    void begin_operator(std::size_t number) { operator_ = number; }

    // Tensors, by their index in the file
    void read_tensors(const Vector& tensors, const Vector& buffers);
    TensorInfo& tensor(std::int32_t index);
    std::vector<std::int64_t> integers(std::int32_t t);
    /// Stored values with their dimensions in another order (empty: the same).
    void copy_bytes(const TensorInfo& info, Tensor& to, const std::vector<std::size_t>& perm);

    // Values
    /// An int8 value of the graph's order.
    ValueId add_value(std::int32_t t, ValueKind kind);
    ValueId value_of(std::int32_t t);
    ValueId constant(std::string name, Tensor tensor_value);

    // Nodes
    void add_node(Operator op, std::vector<ValueId> inputs, ValueId out,
                  Attributes attributes = {});
    /// The node, and the activation that is fused to it, which has the same scale.
    void add_fused(Operator op, std::vector<ValueId> inputs, std::int32_t out,
                   std::int8_t activation, Attributes attributes = {});
    void add_clip(ValueId from, ValueId to, std::int8_t activation);
    ValueId flatten(std::int32_t x, const std::string& name);

  private:
    void read_quantisation(const Table& table, TensorInfo& info);

    const Bytes& bytes_;
    std::vector<TensorInfo> tensors_;
    std::size_t operator_ = 0;
    Graph graph_;
};

}  // namespace lockstep::network::tflite
