// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions on the array.
#pragma once

#include "workloads/network/shapes/window.h"
#include "workloads/network/tpu/compilation.h"
#include "workloads/network/tpu/epilogue.h"
#include "workloads/network/tpu/operators.h"
#include "workloads/network/tpu/product_block.h"
#include "workloads/network/tpu/softmax.h"

namespace lockstep::network::lowering {

/// A convolution as one set after the other of groups that go through the array together: their
/// weights stand on the diagonal of a tile. A plain product has one set.
struct GroupSet {
    std::int64_t first_channel = 0, channels = 0;  ///< of the input
    std::int64_t first_column = 0, columns = 0;    ///< of the result
    std::int64_t k = 0;
    std::int64_t weights = 0;  ///< elements from the first set's to this one's
};

/// Columns of a set that go through the array together.
struct ColumnTile {
    std::size_t set = 0;
    std::int64_t first = 0, columns = 0;  ///< within the set
};

struct Convolving {
    std::int64_t height = 0, width = 0, channels = 0;
    SlidingWindow window;
    std::int64_t out_height() const { return window.output[0]; }
    std::int64_t out_width() const { return window.output[1]; }
};

/// The columns of `m` from `first` on.
Matrix columns_of(Matrix m, std::int64_t first, std::int64_t columns);

/// How a product of computed matrices is to lie.
std::vector<std::int64_t> strides_of_product(const Compilation& c, ValueId result);

/// One matrix of an operand, which is spread over the batches of the result: the last two
/// dimensions.
Place matrix_of(const Place& place, const Shape& batches, std::int64_t index);

/// Notes in the layer how much of the array a pass of weights uses.
void count_use(Compilation& c, std::int64_t rows, std::int64_t lanes, std::int64_t columns);

class ProductLowering {
  public:
    ProductLowering(Compilation& c, const Node& node) : c_(c), node_(node) {}
    void run();

  private:
    using Field = tpu::Field;
    using Opcode = tpu::Opcode;

    struct Weights {
        tpu::Space space = tpu::Space::kMemory;
        std::uint64_t address = 0;
        std::int64_t pitch = 0;
        bool transposed = false;
        tpu::DataType type = tpu::DataType::kInt8;
    };

    /// A tile of columns for rows of a block, in one matrix unit.
    struct Job {
        const ColumnTile* tile;
        std::uint32_t unit;
        std::uint64_t accumulator;
        std::int64_t column, element;  ///< first of the panel
        std::int64_t first, rows;      ///< within the block
        std::int64_t k = 0;            ///< done
        /// The elements of k that the panel holds, and the first of the block's source.
        std::int64_t k_begin = 0, k_count = 0, source_begin = 0;
    };

    struct Operands {
        Matrix left, out;
        std::optional<Matrix> addend;
        const Weights& weights;
        std::vector<ColumnTile> tiles;
        std::int64_t rows = 0;  ///< of the product
    };

    /// Columns whose weights are in the unified buffer together.
    struct Panel {
        std::size_t begin, end;  ///< tiles
        std::int64_t first, columns;
        std::uint64_t bytes;
        std::optional<std::uint64_t> address;  ///< where they are there
    };

    /// The softmax of the result, if another product alone reads that as its left operand.
    const Node* softmax_to_fuse() const;
    void round_in_integers(tpu::Instruction& activate) const;
    std::vector<Block> pooled_blocks(std::int64_t limit, bool is_resident) const;
    void pool_on_the_way(const Block& block, const tpu::Instruction& activate);
    Place result_place(std::vector<std::int64_t> strides);
    void convolution();
    /// As constant ones are packed: for each group, tap after tap, channels x filters.
    void take_computed_filters();
    void finish_convolution(const Place& image);
    void dense();
    void pack_convolution();
    void pack_dense(ValueId weight, bool transposed);
    void prepare_parameters(const std::vector<std::int64_t>& column_sums);
    std::optional<Place> addend_place() const;
    /// A product for each matrix of the right operand.
    struct Batch {
        const Place &left, &right, &result;
        const Shape& batches;
    };
    /// How many of a batch pass through the unified buffer together, see product_batch.cpp; 1: each
    /// by itself.
    std::int64_t products_together(const Batch& batch) const;
    void run_together(const Batch& batch, std::int64_t together);
    void run_one(const Place& left, const Place& right, const Place& result,
                 const std::optional<Place>& addend);
    void run_product(const std::vector<Matrix>& source, const Weights& weights, const Place& result,
                     const std::optional<Place>& addend);
    Operands operands_of(const std::vector<Matrix>& source, const Weights& weights,
                         const Place& result, const std::optional<Place>& addend);
    /// A way to cut the product, with a time that it takes at least, in cycles.
    struct Plan {
        double least;
        std::function<void()> run;
    };
    /// On generation 2 and later; they refer to `o`.
    std::vector<Plan> plans_of(const Operands& o, std::int64_t limit);
    /// The plan that takes the least time by plan_time(). Left out are those that cannot be done.
    void run_fastest(std::vector<Plan> plans);
    /// Whether all rows can stay while panels of columns pass by; in such parts of the ring.
    bool rows_fit(const Operands& o, std::uint64_t parts = 1) const;
    /// Of some of the rows; no convolution.
    Operands part_of(const Operands& o, std::int64_t first, std::int64_t rows) const;
    /// Rows of panels that stay in turn while all columns pass by each: the most of which one fits,
    /// and the most of which the next may come while one is in use.
    std::vector<std::int64_t> row_panels(const Operands& o) const;
    /// How panels of weights may pass by rows that stay.
    struct PassingPanels {
        std::uint64_t bytes = 0;  ///< of a panel, at most
        std::size_t ahead = 1;    ///< panels that are loaded before they are needed
    };
    PassingPanels passing_panels(const Operands& o) const;
    /// The rows stay and panels of columns pass by, or the other way round. `limit`: rows of a
    /// block.
    void run_columns(const Operands& o, std::int64_t limit, const PassingPanels& passing);
    /// `most_weights`: bytes of a panel that is loaded; none: weights come from where they are,
    /// tile by tile.
    void run_rows(const Operands& o, std::int64_t limit, std::optional<std::uint64_t> most_weights);
    /// The rows of a block: `limit` where there are columns for all units. Where there are fewer,
    /// units share the rows, and a block has more of them.
    std::int64_t block_limit(const Panel& panel, std::int64_t limit) const;
    std::vector<Block> row_blocks(const Operands& o, const Panel& panel, std::int64_t limit) const;
    /// From generation 2 on: of rows and of results in a window.
    std::int64_t window_bytes(const Operands& o) const;
    /// The block begins a window, or joins that of the product before, where there are many.
    void begin_window(const Operands& o, const Block& block);
    /// Cycles of the passes of run_rows() at least.
    double least_passes(const Operands& o, const std::vector<Panel>& panels,
                        std::int64_t limit) const;
    /// A place in the ring for as long as the product is computed. Of many small products several
    /// are loaded ahead: each has the next place.
    std::uint64_t pin(const Operands& o, std::uint64_t bytes);
    /// Of many products, and small beside the room: `bytes` of weights and its other values.
    bool is_one_of_many(const Operands& o, std::uint64_t bytes) const;
    std::vector<Panel> weight_panels(const Operands& o, std::optional<std::uint64_t> most) const;
    /// Whether the first panel may be loaded while the kernel before computes.
    bool may_prefetch(const std::vector<Panel>& panels) const;
    /// What run_rows() can be given, by the room there is.
    std::vector<std::optional<std::uint64_t>> panel_sizes(const Operands& o) const;
    /// Neither stays, see product_chunks.cpp: so many rows, tiles of columns and elements of k.
    struct ChunkShape {
        std::int64_t rows, tiles, k;
        bool weights_stay = false;  ///< of the tiles, over all of k, while the rows pass
    };
    /// Those there is room for.
    std::vector<ChunkShape> chunk_shapes(const Operands& o) const;
    struct Chunk {
        std::int64_t row, rows, tile, tiles, k, count;
        BufferRows source;
        std::optional<std::uint64_t> panel;  ///< where its weights are in the unified buffer
        std::uint64_t serial = 0;
    };
    std::vector<Chunk> chunk_list(const Operands& o, const ChunkShape& shape) const;
    void run_chunks(const Operands& o, const ChunkShape& shape);
    void pass_chunk(const Operands& o, const Chunk& chunk, std::vector<Job>& jobs);
    /// The sums of the chunk's rows and tiles are complete.
    void finish_chunk(const Operands& o, const Chunk& chunk, const std::vector<Job>& jobs,
                      std::uint64_t parameters);
    /// For each tile from `first` on, the pieces of the rows.
    std::vector<Job> jobs_of_chunk(const Operands& o, std::int64_t first, std::int64_t tiles,
                                   std::int64_t rows) const;
    /// At most so many bytes of weights and columns each, but a tile at least.
    std::vector<Panel> panels_of(const Operands& o, std::uint64_t most_bytes,
                                 std::uint64_t most_columns, bool staged) const;
    std::uint64_t weight_bytes(const Operands& o, std::size_t tile) const;
    /// Elements of k.
    struct Elements {
        std::int64_t begin, count;
    };
    /// Of each tile the weights of `part`, or of all of k.
    void stage_panel(const Operands& o, std::size_t begin, std::size_t end, std::uint64_t address,
                     const std::optional<Elements>& part = {});
    std::uint64_t parameter_bytes(std::int64_t columns) const;
    void stage_parameters(std::uint64_t address, std::int64_t first, std::int64_t columns);
    /// Of `rows`, at most `limit` at a time, `budget` bytes of operands and as many of results.
    std::vector<Block> blocks_of(std::int64_t rows, std::int64_t limit, std::int64_t budget,
                                 std::int64_t panel_columns, bool results_pass,
                                 bool is_resident) const;
    void stage_block(Block& block, const Matrix& source);
    void pass(const Block& block, const Job& job, const Weights& weights,
              std::optional<std::uint64_t> panel, std::int64_t k, std::int64_t lanes,
              bool switch_inputs = false);
    /// Gives a convolution its windows.
    void slide(const Block& block, const Job& job, std::int64_t k, tpu::Instruction& product) const;
    void multiply(bool switch_inputs, bool unload, tpu::Instruction instruction);
    void finish(const Job& job, std::uint64_t parameters, const BufferRows& out,
                const BufferRows* addend, const Block* pooled = nullptr);
    /// Elements of k that can go through the array in one pass.
    std::int64_t run_of(const GroupSet& set) const;
    /// `panel`: where its weights are in the unified buffer; none: where `weights` says.
    void compute(const Block& block, std::span<const ColumnTile> tiles, const Weights& weights,
                 std::optional<std::uint64_t> panel, std::uint64_t parameters,
                 const BufferRows& out, const BufferRows* addend, std::size_t first_tile);
    /// What compute() is given.
    struct Passes {
        const Block& block;
        std::span<const ColumnTile> tiles;
        const Weights& weights;
        std::optional<std::uint64_t> panel;
        std::uint64_t parameters;
        const BufferRows& out;
        const BufferRows* addend;
    };
    /// Jobs without a place, of tiles from `first` on; where they are in the panel goes on.
    std::vector<Job> jobs_of(const Passes& passes, std::size_t first, std::size_t count,
                             std::int64_t& column, std::int64_t& element) const;
    void hold_weights(const Passes& passes);
    void hold_sums(const Passes& passes);
    void hold_inputs(const Passes& passes);
    /// A pass of each job that is not done yet; whether there was one.
    bool pass_each(const Passes& passes, std::span<Job> jobs, bool switch_inputs = false);
    /// The next accumulators; earlier ones come round again, but none since there was room.
    std::uint64_t accumulators(std::int64_t rows);
    void make_room(std::size_t rows);
    /// The rows that the array holds sums or inputs of at most; ws: those of the block.
    std::int64_t rows_held(std::int64_t block_rows) const;
    std::uint32_t next_unit() { return c_.next_unit++ % c_.target.limits.matrix_units; }

    Compilation& c_;
    const Node& node_;
    bool integer_ = false;
    Epilogue epilogue_;
    std::int64_t m_ = 0, n_ = 0, k_ = 0;
    std::optional<Convolving> conv_;
    std::vector<GroupSet> sets_;
    Weights weights_;
    std::shared_ptr<void> filters_owner_;  ///< of computed filters, while they are read
    std::uint64_t parameters_ = 0;  ///< constant: of each column tile, its biases, then its scales
    std::int64_t input_zero_ = 0;
    // From generation 2 on, of attention: the softmax whose maxima are taken on the way out, and
    // the one whose results are made on the way in; which of its matrices is being computed, and
    // where its statistics are in the unified buffer.
    std::shared_ptr<Softmax> taken_, made_;
    /// Of a batch whose rows the vector unit makes: results of a product leave after rows of the
    /// next are made, so that it does not wait for the arrays in between.
    bool holds_results_ = false;
    std::size_t part_ = 0;
    std::uint64_t taken_at_ = 0, made_at_ = 0;
    std::optional<tpu::Access> input_;  ///< must be complete before the first multiplication
    /// From generation 2 on: so many more matrix instructions, one a unit, wait for all results of
    /// the window before. A kernel computes window by window (only its transfers run ahead).
    std::uint32_t begins_window_ = 0;
    std::int64_t window_left_ = 0;  ///< bytes
};

}  // namespace lockstep::network::lowering
