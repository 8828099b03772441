// SPDX-License-Identifier: Apache-2.0
// How the values of a graph lie on an NPU, and which of them are others seen in another shape.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "workloads/network/compile/view.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/npu/step.h"

namespace lockstep::network::npu_code {

/// A value as its readers see it.
struct Seen {
    Part part;
    Shape flat;  ///< c, h, w where the channels are an image that lies as [h][w][c]
};

/// A value whose elements are those of another in any order.
struct Strided {
    ValueId value = kNoValue;  ///< that has a place of its own
    Layout whole;              ///< of that value
    compile::View view;
    std::int64_t offset = 0;  ///< elements before the first
};

class Values {
  public:
    explicit Values(const Graph& graph);

    /// Of stored integers; compile::Refusal for others than int8 (of 8, 4 or 2 bits).
    isa::ElementType type_of(ValueId id) const;
    /// Whether it lies as [n][h][w][c]: of rank 4, and made or read by windows, or element by
    /// element with one that is.
    bool is_image(ValueId id) const { return image_[id]; }
    /// A value of this shape that is its own.
    Layout layout_of(const Shape& shape, isa::ElementType type, bool image) const;
    Layout layout_of(ValueId id) const {
        return layout_of(graph_.shape(id), type_of(id), is_image(id));
    }
    /// An operand that is broadcast to a shape: with ones before its own extents.
    Layout layout_of_operand(ValueId id, std::size_t rank, bool image) const;

    const Seen& seen(ValueId id);
    void set(ValueId id, Seen seen) { seen_[id] = std::move(seen); }
    /// Strides of any value; of one that only they describe, all but this and view_of refuse.
    Strided strided(ValueId id);
    void set(ValueId id, Strided strided) { strided_.insert_or_assign(id, std::move(strided)); }
    bool is_strided(ValueId id) const { return strided_.contains(id); }
    /// The value whose place it shares.
    ValueId root_of(ValueId id) { return strided(id).value; }
    /// The whole of a value that has a place of its own.
    Part own(ValueId id) { return seen(id).part; }
    /// Strides of the value in elements, as ports have them, and where it begins in the one whose
    /// place it shares.
    compile::View view_of(ValueId id);
    std::int64_t offset_of(ValueId id);

    /// How often a value is read; results of the network once more.
    std::size_t readers(ValueId id) const { return uses_.count(id); }
    const Uses& uses() const { return uses_; }
    const Graph& graph() const { return graph_; }

  private:
    const Graph& graph_;
    void find_images();

    std::vector<bool> image_;
    std::vector<std::optional<Seen>> seen_;
    std::map<ValueId, Strided> strided_;
    const Uses uses_;
};

/// Range of the values that a type holds.
numerics::IntegerRange range_of_type(isa::ElementType type);

}  // namespace lockstep::network::npu_code
