// SPDX-License-Identifier: Apache-2.0
// The state of a compilation: where values are, and what every operator's lowering needs.
#pragma once

#include "isa/tpu/builder.h"
#include "sim/numerics/requantise.h"
#include "workloads/network/products.h"
#include "workloads/network/tpu/compile.h"
#include "workloads/network/tpu/partition.h"
#include "workloads/network/tpu/place.h"
#include "workloads/network/tpu/unified_buffer.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

namespace lockstep::network::lowering {

/// An operand in the unified buffer: rows `pitch` bytes apart.
struct Tile {
    uint64_t address = 0;
    uint64_t pitch = 0;
    tpu::DataType type = tpu::DataType::kInt8;
    uint64_t serial = 0;  ///< of its range in the ring; 0: elsewhere
};

/// How an integer is read or made; nothing changes for floats.
struct Scaling {
    float scale = 1;
    int32_t zero = 0;
};

class Lowering {
  public:
    /// `refused`: nodes, by index, that generation 1 is not to be asked for again.
    Lowering(const Graph& graph, const TpuTarget& target, const Refused& refused = {});
    /// Of what remains refused() means nothing.
    TpuCompiled run();
    /// What generation 1 could not compute, and its host is to.
    const Refused& refused() const { return refused_; }

  private:
    friend class ProductLowering;
    using Field = tpu::Field;
    using Opcode = tpu::Opcode;

    // lowering.cpp, transfers.cpp: places and transfers.
    bool has_memory() const { return target_.generation >= 2; }
    tpu::Space backing() const { return has_memory() ? tpu::Space::kMemory : tpu::Space::kHost; }
    const Value& value(ValueId id) const { return graph_.value(id); }
    const Shape& shape(ValueId id) const { return graph_.shape(id); }
    tpu::DataType type_of(ValueId id) const;
    /// Where a value is; constants are placed when they are first asked for.
    const Place& place(ValueId id);
    void set_place(ValueId id, Place place);
    /// A new value: in the unified buffer where it stays there (generation 1) and fits.
    Place new_place(ValueId id, std::vector<int64_t> strides);
    /// A new value with the strides of `operand`, in its place where nobody needs it any more.
    Place place_over(ValueId id, ValueId operand, std::vector<int64_t> strides);
    /// A new NHWC image. On generation 1, where a concatenation of channels alone reads it: its
    /// channels of that, so that nothing needs to be copied.
    Place image_place(ValueId id);
    std::optional<Place> part_of_concatenation(ValueId id);
    Place dense_place(ValueId id) { return new_place(id, dense_strides(shape(id))); }
    uint32_t add_buffer(std::string name, tpu::Space space, tpu::Role role, tpu::DataType type,
                        uint64_t bytes);
    /// A constant of the compiler's own; `bytes` may be empty (no values).
    uint64_t add_constant(const std::string& name, tpu::Space space, tpu::DataType type,
                          uint64_t size, std::span<const uint8_t> bytes);
    Tile stage(const Matrix& matrix, int64_t first_row, int64_t rows);
    void stage_at(uint64_t address, const Matrix& matrix, int64_t first_row, int64_t rows);
    /// Where rows of a result are to be written, before unstage() takes them there.
    Tile stage_result(const Matrix& matrix, int64_t first_row, int64_t rows);
    void unstage(const Tile& tile, const Matrix& matrix, int64_t first_row, int64_t rows);
    void copy(const Place& from, const Place& to);
    void copy_rows(const Matrix& from, const Matrix& to);
    /// The same values row by row in the graph's order.
    Place dense_copy(const Place& from, const std::string& name) {
        return copy_as(from, dense_strides(from.shape), name);
    }
    /// The same with these strides, which fill a range.
    Place copy_as(const Place& from, std::vector<int64_t> strides, const std::string& name);
    /// An image as NHWC, copied where it does not lie so.
    Place image_of(ValueId id, const std::string& name);
    /// Generation 2 on: a kernel, which waits for the one before; with `prefetch`, only what comes
    /// after end_prefetch() does.
    void begin_step(const std::string& name, int64_t macs = 0, bool prefetch = false);
    /// Generation 2 on: nothing of what follows begins before all that came before is done.
    void begin_kernel();
    void wait_for_all();
    /// Ends the prefetch that a step began with: what follows waits for the kernel before.
    void end_prefetch();
    TpuLayer& layer() { return result_.layers.back(); }
    void emit(Opcode opcode, tpu::Instruction::Fields fields) { builder_.emit(opcode, fields); }
    /// From here on the ring has what the heap does not use; until close_ring() nothing may be
    /// placed.
    void open_ring() { ring_.set_begin(has_memory() ? heap_.top() : heap_end_); }
    void close_ring() {
        ring_.release();
        ring_.set_begin(heap_end_);
    }
    /// What the sizes of windows are shares of. They were found with 16 MiB; where there is more,
    /// larger ones would only overlap less.
    uint64_t window_room() const { return std::min<uint64_t>(ring_.size(), 16 << 20); }
    Tile in_ring(uint64_t bytes, uint64_t pitch, tpu::DataType type);
    /// InputError where something has been placed over it: the buffer is too small for what has to
    /// be there at once.
    void check_held(const Tile& tile) const;
    Tile temporary(int64_t rows, int64_t columns, tpu::DataType type);
    /// The only node that reads the value; nothing where there are others, or it is an output.
    const Node* only_reader(ValueId id) const;
    bool is_done(const Node& node) const { return done_.contains(&node); }
    void lower(const Node& node);
    /// Placed as well as it can be, so that what follows can be examined, too.
    void place_nowhere(ValueId id);
    void place_inputs();
    void take_outputs();

    // host_tasks.cpp
    tpu::DataType host_type_of(ValueId id) const;
    bool is_output(ValueId id) const;
    bool chip_reads(ValueId id) const;
    TpuPort port_of(ValueId id, const Place& at) const;
    /// Where the host finds a value that the chip has.
    TpuPort bring_to_host(ValueId id);
    /// The nodes as one task of the host, with what it needs and gives.
    void lower_on_host(const std::vector<size_t>& nodes);

    // product.cpp, product_blocks.cpp
    void lower_product(const Node& node);
    /// Of a matrix product: one matrix, known when the network is compiled.
    bool has_constant_weights(const Node& node) const;

    // elementwise.cpp
    void lower_unary(const Node& node);
    void lower_binary(const Node& node);
    void lower_clip(const Node& node);
    void lower_where(const Node& node);
    /// to = then(function(a, second or immediate)), both spread to the shape of `to`.
    void elementwise(tpu::Function function, tpu::Function then, const Place& to, const Place& a,
                     const std::optional<Place>& second, std::optional<float> immediate,
                     const std::array<Scaling, 3>& scaling,
                     const numerics::FixedPointPair* fixed = nullptr);
    void lower_table(const Node& node);
    /// Whether its results are scaled by multiplier and shift.
    bool is_fixed_point(const Node& node) const;
    /// Of an average over up to `most` values: multiplier and shift by their number.
    Matrix average_scales(const Node& node, int64_t most);
    void vector_op(tpu::Function function, tpu::Function then, const Tile& a, const Tile* b,
                   tpu::Broadcast broadcast, float immediate, const Tile& out, int64_t rows,
                   int64_t columns, std::array<Scaling, 3> scaling = {},
                   const numerics::FixedPointPair* fixed = nullptr);

    // rows.cpp: softmax, layer normalisation, reductions
    void lower_softmax(const Node& node);
    void lower_layer_normalisation(const Node& node);
    void lower_reduce(const Node& node);
    void reduce(tpu::Reduction reduction, const Tile& a, const Tile& out, int64_t rows,
                int64_t columns);
    /// `body(input tile, output tile, first row, rows)` over pieces of the rows of x, which are
    /// those of y.
    /// `columns` of a row, where it must be the last dimension of the graph and not of memory.
    void by_rows(const Place& x, const Place& y, uint64_t temporaries,
                 const std::function<void(const Tile&, const Tile&, int64_t, int64_t)>& body,
                 int64_t columns = 0);

    // movement.cpp
    void lower_movement(const Node& node);
    /// Whether all that read the rows of a flattened image can take its pixels as they lie.
    bool may_stay_image(ValueId id) const;
    void lower_gather(const Node& node);
    void lower_concat(const Node& node);
    void lower_pad(const Node& node);
    void lower_expand(const Node& node);
    /// By constant indices along one dimension.
    void lower_constant_gather(const Node& node);

    // pooling.cpp
    void lower_pool(const Node& node);

    const Graph& graph_;
    const TpuTarget target_;
    std::vector<NodeGroup> groups_;
    std::set<const Node*> host_nodes_;
    Refused refused_;
    tpu::ProgramBuilder builder_;
    TpuCompiled result_;
    const uint64_t heap_end_;
    Heap heap_;
    Ring ring_;
    bool prefetches_ = false;   ///< the step has not yet waited for the kernel before
    uint64_t accumulator_ = 0;  ///< next row
    uint32_t next_unit_ = 0;
    std::vector<std::optional<Place>> places_;
    std::vector<std::vector<const Node*>> readers_;
    std::vector<size_t> uses_;  ///< readers to come, by value
    std::set<const Node*> done_;
    std::map<const Node*, Place> joined_;      ///< concatenations of which parts are there
    std::vector<bool> host_has_;               ///< the value, in any form
    std::map<ValueId, TpuPort> host_outputs_;  ///< outputs of the network that are on the host
    const Refused& refused_before_;
};

/// The integers' scale and zero point; of values without one: none.
Scaling scaling_of(const Value& value);
/// A window slides over its first operand.
bool slides_over(const Node* node);
/// The one value of a known constant, or nothing.
std::optional<float> scalar_of(const Value& value);
/// Of an addition, subtraction or multiplication: of its operands and its result (in this order).
numerics::FixedPointPair fixed_point_of(tpu::Function function,
                                        const std::array<const Value*, 3>& values);
/// As a function of the vector unit; nothing where it has none for the node.
std::optional<tpu::Function> function_of(const Graph& graph, const Node& node);
/// The same where it can follow another operation at once: on integers, a rectifier that keeps the
/// scale.
std::optional<tpu::Function> fused_function(const Graph& graph, const Node& node);

}  // namespace lockstep::network::lowering
