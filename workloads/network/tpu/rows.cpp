// SPDX-License-Identifier: Apache-2.0
// Layer normalisation and reductions along rows or of rows: vector instructions on fp32 temporaries
// in the unified buffer.
#include <algorithm>

#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/tpu/copies.h"
#include "workloads/network/tpu/long_row.h"
#include "workloads/network/tpu/operators.h"
#include "workloads/network/tpu/vector.h"

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::DataType;
using tpu::Function;
using tpu::Reduction;

namespace {

constexpr const char* kNoInstruction = "generation 1 has no instruction for it";
constexpr const char* kOtherAxis = "not along the last axis";

/// A value a row, which kernels hand on through memory. It is in the unified buffer as a whole
/// while a kernel runs, or passes with the rows where there are too many.
class Statistics {
  public:
    Statistics(Compilation& c, const std::string& name, std::int64_t rows)
        : c_(c), is_whole_(rows <= kMostRows) {
        const std::uint64_t size = static_cast<std::uint64_t>(rows) * kBytes;
        const std::uint32_t buffer = c.places.add_buffer(
            name, c.places.backing(), tpu::Role::kScratch, DataType::kFp32, size);
        column_ = {c.places.backing(), c.builder.address(buffer), DataType::kFp32, rows, 1, 1};
    }
    /// Of the unified buffer.
    std::uint64_t bytes() const { return is_whole_ ? compile::aligned(column_.bytes()) : 0; }
    void hold_at(std::uint64_t address) { held_ = {address, kBytes, DataType::kFp32}; }
    /// Where rows of a value of `shape` have theirs.
    Place place(Shape shape) const {
        Place place;
        place.space = is_whole_ ? tpu::Space::kUnifiedBuffer : column_.space;
        place.address = is_whole_ ? held_.address : column_.address;
        place.type = DataType::kFp32;
        place.shape = std::move(shape);
        place.shape.back() = 1;
        place.strides = dense_strides(place.shape);
        return place;
    }
    /// Before they are read, and after they were written.
    void begin_kernel() {
        if (is_whole_) c_.staging.load_at(held_.address, column_, 0, column_.rows);
    }
    void end_kernel() {
        if (is_whole_) c_.staging.store(held_, column_, 0, column_.rows);
    }
    BufferRows load(std::int64_t row, std::int64_t rows) {
        if (!is_whole_) return c_.staging.load(column_, row, rows);
        BufferRows part = held_;
        part.address += static_cast<std::uint64_t>(row) * kBytes;
        return part;
    }

  private:
    static constexpr std::uint64_t kBytes = 4;
    static constexpr std::int64_t kMostRows = 1 << 15;

    Compilation& c_;
    const bool is_whole_;
    Matrix column_;    ///< in memory
    BufferRows held_;  ///< in the unified buffer
};

}  // namespace

compile::Reason reason_row(const Asked& a) {
    if (a.target.generation == 1) return kNoInstruction;
    const auto rank = static_cast<std::int64_t>(a.graph.shape(a.node.inputs[0]).size());
    const std::int64_t axis = a.node.integer("axis", -1);
    if ((axis < 0 ? axis + rank : axis) + 1 != rank) return kOtherAxis;
    return std::nullopt;
}

namespace {

/// The only axis, counted from the last one: 1 for that; 0 where there are more or none.
std::int64_t axis_from_end(const Graph& graph, const Node& node) {
    const auto axes = written_axes(graph, node);
    const auto rank = static_cast<std::int64_t>(graph.shape(node.inputs[0]).size());
    if (!axes || axes->size() != 1) return 0;
    const std::int64_t axis = axes->front();
    return axis < 0 ? -axis : rank - axis;
}

}  // namespace

compile::Reason reason_reduction(const Asked& a) {
    if (a.target.generation == 1) return kNoInstruction;
    const std::int64_t axis = axis_from_end(a.graph, a.node);
    if (axis != 1 && axis != 2) return kOtherAxis;
    return std::nullopt;
}

void lower_layer_normalisation(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    c.steps.begin(node.name);
    const std::int64_t columns = c.shape(x).back();
    const float epsilon = node.real("epsilon", 1e-5f);
    const auto row_of = [&](ValueId id) {
        const Place& p = c.places.of(id);
        return Matrix{p.space, p.address, p.type, 1, columns, columns};
    };
    const bool has_bias = node.input(2) != kNoValue;
    const Matrix scale = row_of(node.inputs.at(1));
    const std::uint64_t bytes = static_cast<std::uint64_t>(columns) * tpu::size_of(scale.type);
    // Four passes over the rows, each a kernel that ends with what the next one needs of all of a
    // row: means, reciprocal deviations, normalised rows, results. Frameworks write the last two
    // apart: torch_xla as a batch normalisation, then factor and addend (pytorch/xla 3612, 2626).
    const std::int64_t rows_in_all = element_count(c.shape(x)) / columns;
    Statistics means(c, node.name + ".mean", rows_in_all),
        deviations(c, node.name + ".deviation", rows_in_all);
    const std::uint64_t pinned = c.staging.ring().pin(2 * bytes + 2 * means.bytes());
    const BufferRows scale_tile{pinned, bytes, scale.type},
        bias_tile{pinned + bytes, bytes, scale.type};
    means.hold_at(pinned + 2 * bytes);
    deviations.hold_at(pinned + 2 * bytes + means.bytes());
    const auto centre = [&](const BufferRows& in, std::int64_t row, std::int64_t rows) {
        Loop loop(c, in, rows, columns);
        loop.apply(Function::kSubtract, means.load(row, rows), Broadcast::kColumn);
        return loop;
    };
    by_rows(
        c, c.places.of(x), means.place(c.shape(x)), 0,
        [&](const BufferRows& in, const BufferRows& out, std::int64_t, std::int64_t rows) {
            reduce(c, Reduction::kMean, in, out, rows, columns);
        },
        columns);
    means.end_kernel();
    c.steps.begin_kernel();
    means.begin_kernel();
    by_rows(
        c, c.places.of(x), deviations.place(c.shape(x)), 0,
        [&](const BufferRows& in, const BufferRows& out, std::int64_t row, std::int64_t rows) {
            centre(in, row, rows).reduce(Reduction::kSumOfSquares, out);
            Loop of_rows(c, out, rows, 1);
            of_rows.apply(Function::kMultiply, 1.0f / static_cast<float>(columns));
            of_rows.apply(Function::kAdd, epsilon, Function::kRsqrt);
            of_rows.store(out);
        },
        columns);
    deviations.end_kernel();
    c.steps.begin_kernel();
    means.begin_kernel();
    deviations.begin_kernel();
    Place to = c.places.make_dense(y);
    const Place normalised = c.places.make_scratch(node.name + ".normalised", to);
    by_rows(
        c, c.places.of(x), normalised, 0,
        [&](const BufferRows& in, const BufferRows& out, std::int64_t row, std::int64_t rows) {
            Loop loop = centre(in, row, rows);
            loop.apply(Function::kMultiply, deviations.load(row, rows), Broadcast::kColumn);
            loop.store(out);
        },
        columns);
    c.steps.begin_kernel();
    c.staging.load_at(scale_tile.address, scale, 0, 1);
    if (has_bias) c.staging.load_at(bias_tile.address, row_of(node.inputs[2]), 0, 1);
    by_rows(
        c, normalised, to, 0,
        [&](const BufferRows& in, const BufferRows& out, std::int64_t, std::int64_t rows) {
            Loop loop(c, in, rows, columns);
            loop.apply(Function::kMultiply, scale_tile, Broadcast::kRow);
            if (has_bias) loop.apply(Function::kAdd, bias_tile, Broadcast::kRow);
            loop.store(out);
        },
        columns);
    c.staging.ring().release();
    c.places.set(y, std::move(to));
}

namespace {

Reduction reduction_of(const Node& node) {
    return node.op == Operator::kReduceMean  ? Reduction::kMean
           : node.op == Operator::kReduceSum ? Reduction::kSum
                                             : Reduction::kMax;
}

/// What sums of parts are brought together by.
Reduction of_parts(Reduction reduction) {
    return reduction == Reduction::kMean ? Reduction::kSum : reduction;
}

Function joining(Reduction reduction) {
    return reduction == Reduction::kMax ? Function::kMaximum : Function::kAdd;
}

/// One row in fp32 of all pieces. It is pinned.
BufferRows joined_rows(Compilation& c, Reduction each, const PassingPieces& pieces) {
    const std::int64_t columns = pieces.columns;
    const std::uint64_t bytes = static_cast<std::uint64_t>(columns) * 4,
                        beside = compile::aligned(pieces.beside),
                        at = c.staging.ring().pin(beside + bytes);
    pieces.begin(at);
    const BufferRows running{at + beside, bytes, DataType::kFp32};
    for (std::int64_t first = 0; first < pieces.count; first += pieces.at_a_time) {
        const std::int64_t rows = std::min(pieces.at_a_time, pieces.count - first);
        Loop loop = pieces.make(first, rows);
        const BufferRows joined =
            first == 0 ? running : c.staging.temporary(1, columns, DataType::kFp32);
        loop.reduce(each, joined, tpu::Axis::kRows);
        if (first != 0)
            vector_op(c, joining(each), Function::kIdentity, running, &joined, Broadcast::kNone, 0,
                      running, 1, columns);
    }
    return running;
}

/// The same of all rows of `x`, of which `window` pass at a time.
BufferRows joined_rows(Compilation& c, Reduction each, const Matrix& x, std::int64_t window) {
    return joined_rows(c, each,
                       {.count = x.rows,
                        .at_a_time = window,
                        .columns = x.columns,
                        .make = [&](std::int64_t first, std::int64_t rows) {
                            return Loop(c, c.staging.load(x, first, rows), rows, x.columns);
                        }});
}

/// Of `count` values each; ends what joined_rows() pinned.
void store_joined(Compilation& c, Reduction reduction, std::int64_t count, const BufferRows& joined,
                  const Matrix& row) {
    const bool is_mean = reduction == Reduction::kMean;
    const BufferRows out = c.staging.room_for(row, 0, 1);
    vector_op(c, is_mean ? Function::kMultiply : Function::kIdentity, Function::kIdentity, joined,
              nullptr, is_mean ? Broadcast::kImmediate : Broadcast::kNone,
              is_mean ? 1.0f / static_cast<float>(count) : 0, out, 1, row.columns);
    c.staging.store(out, row, 0, 1);
    c.staging.ring().release();
}

/// Joins the rows of a matrix, by as many columns at a time as fit.
void reduce_by_columns(Compilation& c, Reduction reduction, const Matrix& all, const Matrix& to) {
    const std::int64_t piece = window_columns(c, all);
    // As many elements as of whole rows.
    const std::int64_t window = std::clamp<std::int64_t>(
        window_rows(c, all.bytes(), all.rows, 0) * all.columns / piece, 1, all.rows);
    for (std::int64_t column = 0; column < all.columns; column += piece) {
        Matrix from = all, out = to;
        from.columns = out.columns = out.pitch = std::min(piece, all.columns - column);
        from.address += static_cast<std::uint64_t>(column) * tpu::size_of(from.type);
        out.address += static_cast<std::uint64_t>(column) * tpu::size_of(out.type);
        store_joined(c, reduction, from.rows, joined_rows(c, of_parts(reduction), from, window),
                     out);
    }
}

/// Joins the rows of each of the matrices that follow each other as the rows of `all`; each has a
/// row of `to`.
void reduce_together(Compilation& c, Reduction reduction, const Matrix& all, std::int64_t together,
                     const Matrix& to) {
    const std::int64_t joined = all.rows / to.rows;
    for (std::int64_t first = 0; first < to.rows; first += together) {
        const std::int64_t count = std::min(together, to.rows - first);
        const BufferRows in = c.staging.load(all, first * joined, count * joined),
                         out = c.staging.room_for(to, first, count);
        for (std::int64_t i = 0; i < count; ++i)
            reduce(c, reduction, row_of(in, i * joined), row_of(out, i), joined, to.columns,
                   tpu::Axis::kRows);
        c.staging.store(out, to, first, count);
    }
}

/// Along the last axis but one: rows are joined, and nothing is turned.
void lower_reduction_of_rows(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const Shape& s = c.shape(x);
    const std::int64_t joined = s.rbegin()[1], columns = s.back();
    c.steps.begin(node.name);
    Place from = c.places.of(x);
    // Each matrix that is joined is one of whole rows.
    const auto parts = [&]() -> std::optional<std::vector<Matrix>> {
        const auto found = matrices_of(from);
        if (found)
            for (const Matrix& m : *found)
                if (m.rows % joined != 0) return std::nullopt;
        return found;
    };
    if (!parts()) from = dense_copy(c, from, node.name + ".rows");
    Place to = c.places.make_in_backing(y, dense_strides(c.shape(y)));
    std::int64_t done = 0;
    const std::vector<Matrix> matrices = *parts();
    for (const Matrix& all : matrices) {
        const auto result = [&](std::int64_t rows) -> Matrix {
            return {to.space, to.address + to.bytes_of(done * columns), to.type, rows, columns,
                    columns};
        };
        const std::int64_t count = all.rows / joined;
        Matrix one = all;
        one.rows = joined;
        const std::int64_t together =
            all.pitch == columns ? matrices_together(c, one.bytes(), count) : 1;
        if (together > 1) {
            reduce_together(c, reduction_of(node), all, together, result(count));
            done += count;
            continue;
        }
        for (std::int64_t i = 0; i < count; ++i, ++done) {
            one.address = all.row_address(i * joined);
            reduce_by_columns(c, reduction_of(node), one, result(1));
        }
    }
    c.places.set(y, std::move(to));
}

/// Of a row that is long: its pieces are joined as rows, that one across lanes.
void reduce_long_row(Compilation& c, Reduction reduction, const Matrix& row, const Matrix& to) {
    const Reduction each = of_parts(reduction);
    const std::int64_t piece = PassingPieces::columns_of(row.half_tiles);
    Matrix pieces = row;
    pieces.rows = row.columns / piece;
    pieces.columns = pieces.pitch = piece;
    const BufferRows joined =
        joined_rows(c, each, pieces, window_rows(c, pieces.bytes(), pieces.rows, 0));
    const BufferRows all = c.staging.temporary(1, 1, DataType::kFp32);
    reduce(c, each, joined, all, 1, piece);
    if (row.columns % piece != 0) {
        Matrix rest = row;
        rest.address = pieces.row_address(pieces.rows);
        rest.columns = row.columns % piece;
        const BufferRows in = c.staging.load(rest, 0, 1);
        const BufferRows of_rest = c.staging.temporary(1, 1, DataType::kFp32);
        reduce(c, each, in, of_rest, 1, rest.columns);
        vector_op(c, joining(each), Function::kIdentity, all, &of_rest, Broadcast::kNone, 0, all, 1,
                  1);
    }
    store_joined(c, reduction, row.columns, all, to);
}

/// Rows so few and long that they would not pass in several windows.
bool has_long_rows(const Shape& s, DataType type) {
    constexpr std::int64_t kWindows = 16, kLeast = 64 << 10;
    return element_count(s) / s.back() < kWindows &&
           s.back() * static_cast<std::int64_t>(tpu::size_of(type)) >= 2 * kLeast;
}

/// Such rows, one after the other.
void lower_reduction_of_long_rows(Compilation& c, const Node& node) {
    const ValueId y = node.outputs[0];
    c.steps.begin(node.name);
    Place from = c.places.of(node.inputs[0]);
    if (!matrices_of(from)) from = dense_copy(c, from, node.name + ".rows");
    Place to = c.places.make_in_backing(y, dense_strides(c.shape(y)));
    std::int64_t done = 0;
    const std::vector<Matrix> matrices = *matrices_of(from);
    for (const Matrix& all : matrices)
        for (std::int64_t row = 0; row < all.rows; ++row, ++done) {
            Matrix m = all;
            m.address = all.row_address(row);
            m.rows = 1;
            reduce_long_row(c, reduction_of(node), m,
                            {to.space, to.address + to.bytes_of(done), to.type, 1, 1, 1});
        }
    c.places.set(y, std::move(to));
}

}  // namespace

bool joins_rows(const Compilation& c, const Node& node) {
    using enum Operator;
    const bool is_reduction =
        node.op == kReduceSum || node.op == kReduceMean || node.op == kReduceMax;
    return is_reduction && axis_from_end(c.graph, node) == 1;
}

void reduce_pieces(Compilation& c, const Node& node, const PassingPieces& pieces,
                   const Matrix& to) {
    const Reduction reduction = reduction_of(node), each = of_parts(reduction);
    const BufferRows joined = joined_rows(c, each, pieces),
                     all = c.staging.temporary(1, 1, DataType::kFp32);
    reduce(c, each, joined, all, 1, pieces.columns);
    store_joined(c, reduction, pieces.count * pieces.columns, all, to);
}

void lower_reduction(Compilation& c, const Node& node) {
    if (axis_from_end(c.graph, node) == 2) return lower_reduction_of_rows(c, node);
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const Shape& s = c.shape(x);
    if (has_long_rows(s, c.places.of(x).type)) return lower_reduction_of_long_rows(c, node);
    const Reduction reduction = reduction_of(node);
    c.steps.begin(node.name);
    // As softmax's and normalisations' statistics: between kernels in memory.
    Place to = c.places.make_in_backing(y, dense_strides(c.shape(y))), column = to;
    column.shape = s;
    column.shape.back() = 1;
    column.strides = dense_strides(column.shape);
    by_rows(
        c, c.places.of(x), column, 0,
        [&](const BufferRows& in, const BufferRows& out, std::int64_t, std::int64_t rows) {
            reduce(c, reduction, in, out, rows, s.back());
        },
        s.back());
    c.places.set(y, std::move(to));
}

}  // namespace lockstep::network::lowering
