// SPDX-License-Identifier: Apache-2.0
// How the values of a graph lie on an NPU, and which of them are others seen in another shape.
#pragma once

#include <optional>
#include <vector>

#include "workloads/network/compile/view.h"
#include "workloads/network/npu/step.h"

namespace lockstep::network::npu_code {

/// A value as its readers see it.
struct Seen {
    Part part;
    Shape flat;  ///< c, h, w where the channels are an image that lies as [h][w][c]
};

class Values {
  public:
    explicit Values(const Graph& graph);

    /// Of stored integers; compile::Refusal for others than int8 (of 8, 4 or 2 bits).
    isa::ElementType type_of(ValueId id) const;
    /// A value of this shape that is its own.
    Layout layout_of(const Shape& shape, isa::ElementType type) const;
    /// An operand that is broadcast to a shape: with ones before its own extents.
    Layout layout_of_operand(ValueId id, std::size_t rank) const;

    const Seen& seen(ValueId id);
    void set(ValueId id, Seen seen) { seen_[id] = std::move(seen); }
    /// The whole of a value that has a place of its own.
    Part own(ValueId id) { return seen(id).part; }
    /// Strides of the value in elements, as ports have them, and where it begins in the one whose
    /// place it shares.
    compile::View view_of(ValueId id);
    std::int64_t offset_of(ValueId id);

    /// How often a value is read; results of the network once more.
    std::size_t readers(ValueId id) const { return readers_[id]; }
    const Graph& graph() const { return graph_; }

  private:
    const Graph& graph_;
    bool has_images_ = false;  ///< values of rank 4 are NCHW
    std::vector<std::optional<Seen>> seen_;
    std::vector<std::size_t> readers_;
};

/// Range of the values that a type holds.
numerics::IntegerRange range_of_type(isa::ElementType type);

}  // namespace lockstep::network::npu_code
