// SPDX-License-Identifier: Apache-2.0
// Where values are while a network is compiled, and who still reads them. On generation 1 they stay
// in the unified buffer (24 MiB) as long as they fit; later generations keep them in memory (HBM),
// and between kernels in a part of VMEM where they fit, as XLA's assignment of memory spaces does.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "isa/tpu/builder.h"
#include "workloads/network/compile/buffer.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/tpu/compile.h"
#include "workloads/network/tpu/place.h"

namespace lockstep::network::lowering {

class Placement {
  public:
    /// Values that stay have `heap_bytes` of the unified buffer. `host_nodes` run on the host.
    Placement(const Graph& graph, const TpuTarget& target, tpu::ProgramBuilder& builder,
              std::uint64_t heap_bytes, std::set<const Node*> host_nodes);

    /// Where a value is; constants are placed when they are first asked for.
    const Place& of(ValueId id);
    bool has(ValueId id) const { return places_[id].has_value(); }
    void set(ValueId id, Place place);
    /// Where it has been moved to.
    void move(ValueId id, Place place) { places_.at(id) = std::move(place); }

    /// A new value: in the unified buffer where it stays there (generation 1) and fits.
    Place make(ValueId id, std::vector<std::int64_t> strides);
    Place make_dense(ValueId id) { return make(id, dense_strides(graph_.shape(id))); }
    /// A new value behind the unified buffer, wherever others would be.
    Place make_in_backing(ValueId id, std::vector<std::int64_t> strides);
    /// With the strides of `operand`, in its place where nobody needs it any more.
    Place make_over(ValueId id, ValueId operand, std::vector<std::int64_t> strides);
    /// An NHWC image. On generation 1, where a concatenation of channels alone reads it: its
    /// channels of that, so that nothing needs to be copied.
    Place make_image(ValueId id);
    /// The result of a concatenation of which parts were made where they belong.
    std::optional<Place> take_joined(const Node& concatenation);
    /// Of a node that was refused: placed as well as it can be, so that what follows can be
    /// examined, too.
    void stand_in(ValueId id);

    /// A place of the lowering's own, with the type, shape and strides of `like`.
    Place make_scratch(const std::string& name, const Place& like);
    /// Gives the place a range of the unified buffer, or false where there is none.
    bool place_in_buffer(Place& place);
    /// Gives the place a buffer of the program in its space, whose number this is.
    std::uint32_t place_in_program(Place& place, std::string name, tpu::Role role);
    /// A constant of the compiler's own in `place.space`; `contents` may be empty (no values).
    std::uint64_t add_constant(const std::string& name, tpu::Space space, tpu::DataType type,
                               std::uint64_t bytes, std::span<const std::uint8_t> contents);
    /// Such a constant from real values, with the place's type and shape, dense.
    void add_values(Place& place, const std::string& name, const std::vector<float>& values);
    std::uint32_t add_buffer(std::string name, tpu::Space space, tpu::Role role, tpu::DataType type,
                             std::uint64_t bytes);
    TpuPort port_of(ValueId id, const Place& at) const;

    /// Generation 2 and later: memory (HBM) behind the unified buffer.
    bool has_memory() const { return target_.generation >= 2; }
    /// What is behind the unified buffer.
    tpu::Space backing() const { return has_memory() ? tpu::Space::kMemory : tpu::Space::kHost; }
    tpu::DataType type_of(ValueId id) const;
    /// As the host has it.
    tpu::DataType host_type_of(ValueId id) const;

    const Uses& uses() const { return uses_; }
    /// The only node that reads the value, and the chip runs it; nothing where there are others, or
    /// it is an output.
    const Node* only_reader(ValueId id) const;
    bool is_output(ValueId id) const { return uses_.is_result(id); }
    bool is_on_host(const Node& node) const { return host_nodes_.contains(&node); }
    bool chip_reads(ValueId id) const;
    /// Some window slides over it, and it is best an image.
    bool is_slid_over(ValueId id) const;
    /// The node has been read: its operands may have been needed for the last time.
    void release(const Node& node);
    /// All that were placed, in the heap's lifetime.
    void release_all() { places_.clear(); }
    const compile::Heap& heap() const { return heap_; }

  private:
    Place unplaced(ValueId id, std::vector<std::int64_t> strides) const;
    std::optional<Place> part_of_concatenation(ValueId id);

    const Graph& graph_;
    const TpuTarget& target_;
    tpu::ProgramBuilder& builder_;
    compile::Heap heap_;
    std::set<const Node*> host_nodes_;
    std::vector<std::optional<Place>> places_;
    const Uses uses_;
    std::vector<std::size_t> to_come_;     ///< reads, by value
    std::map<const Node*, Place> joined_;  ///< concatenations of which parts are there
};

/// The scale and zero point of an integer value; of others: none.
struct Scaling {
    float scale = 1;
    std::int32_t zero = 0;
};
Scaling scaling_of(const Value& value);
bool same_scale(const Value& a, const Value& b);
/// Of a Concat, counted from the front.
std::int64_t axis_of_concat(const Node& node, const Shape& shape);
/// The bytes of values of a TPU's type.
ElementType element_type_of(tpu::DataType type);

}  // namespace lockstep::network::lowering
