// SPDX-License-Identifier: Apache-2.0
// What the lowerings of operators work with: where values are, buffers, and the list of launches.
// One lowering a family of operators; each says beforehand why it cannot (reason_of) and finds its
// operands placed.
#pragma once

#include <concepts>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "workloads/network/compile/refusal.h"
#include "workloads/network/gpu/executable.h"
#include "workloads/network/gpu/places.h"
#include "workloads/network/graph/fusion.h"

namespace lockstep::network::gpu {

class Lowering {
  public:
    Lowering(Executable& code) : code_(code), graph_(code.graph) {}

    const Graph& graph() const { return graph_; }
    const Target& target() const { return code_.target; }
    const Options& options() const { return code_.options; }
    Executable& code() { return code_; }

    /// Where the value is. A given one that no one has read yet gets the place that it is asked for
    /// in (`wanted` strides; row-major where they are left out).
    const Place& place(ValueId value, const std::vector<std::int64_t>& wanted = {});
    bool has_place(ValueId value) const { return places_.contains(value); }
    /// A new place for a value that a node computes, with these strides; row-major in the output's
    /// buffer where the network gives the value and the strides are that.
    Place create(ValueId value, const std::vector<std::int64_t>& strides);
    Place create(ValueId value);  ///< row-major
    /// The value is there already.
    void set_place(ValueId value, Place place);
    /// Memory for a while.
    Place scratch(const std::string& name, ElementType type, const Shape& shape,
                  const std::vector<std::int64_t>& strides = {});
    BufferId add_buffer(std::string name, BufferUse use, std::uint64_t bytes);
    void set_output(ValueId value, BufferId buffer) { output_buffers_[value] = buffer; }

    /// A constant of the compiler's own; row-major where no strides are given.
    Place constant(const std::string& name, Tensor tensor,
                   const std::vector<std::int64_t>& strides = {});

    /// The same values, row-major, copied where they are not.
    Place row_major(const Place& place);
    void copy(const Place& from, const Place& to);

    /// For the parameters of a launch: who launches replaces it by the address.
    void* pointer(const Place& place) const {
        return pointer(place.buffer, place.offset, place.type);
    }
    void* pointer(BufferId buffer, std::int64_t offset = 0,
                  ElementType type = ElementType::kUint8) const;

    void set_layer(std::string name) { layer_ = std::move(name); }
    const std::string& layer() const { return layer_; }

    struct Shape3 {
        sass::Dim3 grid, block;
        std::uint32_t shared_bytes = 0;
    };
    /// Adds a launch. `parameters` has its pointers found by pointers_of.
    template <class P, class... More>
    Launch& emit(cuda::KernelName kernel, const Shape3& shape, const P& parameters,
                 const More&... more) {
        Launch launch;
        launch.layer = layer_;
        launch.kernel = kernel;
        launch.grid = shape.grid;
        launch.block = shape.block;
        launch.shared_bytes = shape.shared_bytes;
        launch.parameters.resize(sizeof(P));
        std::memcpy(launch.parameters.data(), &parameters, sizeof(P));
        for_each_pointer(parameters, [&](void* const& pointer) {
            relocate(launch, pointer,
                     static_cast<std::size_t>(reinterpret_cast<const char*>(&pointer) -
                                              reinterpret_cast<const char*>(&parameters)));
        });
        for_each_written(parameters, [&](void* const& pointer) {
            note_written(launch,
                         static_cast<std::size_t>(reinterpret_cast<const char*>(&pointer) -
                                                  reinterpret_cast<const char*>(&parameters)));
        });
        (append(launch, more), ...);
        code_.launches.push_back(std::move(launch));
        return code_.launches.back();
    }
    /// One thread an element: blocks of 256.
    static Shape3 threads_for(std::int64_t count);

  private:
    template <class T>
    static void append(Launch& launch, const T& value) {
        const std::size_t at =
            (launch.parameters.size() + alignof(T) - 1) / alignof(T) * alignof(T);
        launch.parameters.resize(at + sizeof(T));
        std::memcpy(launch.parameters.data() + at, &value, sizeof(T));
    }
    void relocate(Launch& launch, const void* pointer, std::size_t at);
    /// The pointer at this place of the parameters is written through.
    static void note_written(Launch& launch, std::size_t at);

    template <class S, class F>
    static void for_each_pointer(const kernels::MapOf<S>& p, F&& f) {
        f(p.out.data);
        for (const kernels::Operand& in : p.in) f(in.data);
    }
    template <class F>
    static void for_each_pointer(const kernels::Epilogue& p, F&& f) {
        f(p.out);
        for (const kernels::ProductOperand& operand : p.operand) f(operand.data);
    }
    template <class F>
    static void for_each_pointer(const kernels::Product& p, F&& f) {
        f(p.a), f(p.b);
        f(reinterpret_cast<void* const&>(p.partial));
        for_each_pointer(p.epilogue, f);
    }
    template <class F>
    static void for_each_pointer(const kernels::Attention& p, F&& f) {
        f(p.q), f(p.k), f(p.v), f(p.out), f(p.mask);
    }
    template <class F>
    static void for_each_pointer(const kernels::Depthwise& p, F&& f) {
        f(p.x), f(p.w);
        for_each_pointer(p.epilogue, f);
    }
    template <class F>
    static void for_each_pointer(const kernels::Pool& p, F&& f) {
        f(p.in), f(p.out), f(p.multipliers), f(p.shifts);
    }
    template <class F>
    static void for_each_pointer(const kernels::QuantisedMap& p, F&& f) {
        f(p.out.data), f(p.in[0].data), f(p.in[1].data), f(p.table);
    }
    template <class F>
    static void for_each_pointer(const kernels::Reduce& p, F&& f) {
        f(p.in), f(p.out);
    }
    template <class F>
    static void for_each_pointer(const kernels::Rows& p, F&& f) {
        f(p.in.data), f(p.out.data), f(p.scale.data), f(p.shift.data);
    }
    template <class F>
    static void for_each_pointer(const kernels::Take& p, F&& f) {
        f(p.data), f(p.indices), f(p.values);
        f(reinterpret_cast<void* const&>(p.fault));
    }
    template <class F>
    static void for_each_pointer(const kernels::Top& p, F&& f) {
        f(p.in.data), f(p.values.data), f(p.indices.data);
    }

    // Those of them that kernels write through.
    template <class S, class F>
    static void for_each_written(const kernels::MapOf<S>& p, F&& f) {
        f(p.out.data);
    }
    template <class F>
    static void for_each_written(const kernels::Product& p, F&& f) {
        f(reinterpret_cast<void* const&>(p.partial));
        f(p.epilogue.out);
    }
    template <class F>
    static void for_each_written(const kernels::Depthwise& p, F&& f) {
        f(p.epilogue.out);
    }
    template <class F>
    static void for_each_written(const kernels::QuantisedMap& p, F&& f) {
        f(p.out.data);
    }
    template <class F>
    static void for_each_written(const kernels::Rows& p, F&& f) {
        f(p.out.data);
    }
    template <class F>
    static void for_each_written(const kernels::Take& p, F&& f) {
        f(p.data), f(p.values);  // of take the one, of put the other
    }
    template <class F>
    static void for_each_written(const kernels::Top& p, F&& f) {
        f(p.values.data), f(p.indices.data);
    }
    template <class P, class F>
    requires(std::same_as<P, kernels::Attention> || std::same_as<P, kernels::Pool> ||
             std::same_as<P, kernels::Reduce>) static void for_each_written(const P& p, F&& f) {
        f(p.out);
    }

    Executable& code_;
    const Graph& graph_;
    std::map<ValueId, Place> places_;
    std::map<ValueId, BufferId> output_buffers_;
    std::string layer_;
};

/// Nodes that are lowered together: a product with what follows it, or a chain of elementwise ones.
using Group = std::vector<std::size_t>;
std::vector<Group> groups_of(const Graph& graph);

/// Why there is no kernel for the node.
compile::Reason reason_of(const Graph& graph, const Node& node, Precision precision);

// Lowerings by family.
bool is_elementwise(const Graph& graph, const Node& node);
void lower_chain(Lowering& l, const Group& nodes);  ///< elementwise nodes, each reading the last
void lower_product(Lowering& l, const Group& nodes);
/// Of windows over an image, or of one over all of it; creates the result's place.
kernels::Pool pool_parameters(Lowering& l, const Node& node);

/// An operator that is neither a product nor elementwise: its row is in its family's file.
struct OperatorRow {
    Operator op;
    void (*lower)(Lowering&, const Node&);
    /// Why there is no kernel for this node; null: there is one for each.
    compile::Reason (*reason)(const Graph&, const Node&) = nullptr;
};
std::span<const OperatorRow> indexing_operators();
std::span<const OperatorRow> movement_operators();
std::span<const OperatorRow> pool_operators();
std::span<const OperatorRow> reduction_operators();
std::span<const OperatorRow> row_operators();  ///< softmax, normalisations
/// The operator's row, of any family; null: it has none.
const OperatorRow* row_of(Operator op);
/// Why there is no kernel for a node of such an operator.
compile::Reason reason_of_row(const Graph& graph, const Node& node);

// On int8 values with scales (is_quantised).
compile::Reason quantised_reason(const Graph& graph, const Node& node);
void lower_quantised(Lowering& l, const Node& node);  ///< all but products
/// What happens to a product's int32 sums; a Relu behind it is a limit.
void set_integer_epilogue(Lowering& l, const Node& node, bool is_relu, kernels::Epilogue& e);
/// A Relu that keeps the scale and whose zero is 0.
bool is_limit_at_zero(const Graph& graph, const Node& node);

/// A product's operand as bytes of e4m3, which lie as the product reads them.
void lower_e4m3(Lowering& l, const Node& node);

/// Lets an output that takes an input's place be computed there, where nobody reads the old value
/// later; else copies it at the end.
void place_updates(Lowering& l);

/// InputError where what any plan has to hold at one time exceeds the machine's memory: before
/// tensors are refused for being too large for a kernel.
void check_least_memory(const Graph& graph, const Target& target);
/// Gives the buffers between their addresses; sets first and last. InputError where the machine's
/// memory is too small, with the largest tensors.
void plan_memory(Executable& code);

}  // namespace lockstep::network::gpu
