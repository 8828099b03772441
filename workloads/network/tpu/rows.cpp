// SPDX-License-Identifier: Apache-2.0
// Operators along rows (softmax, layer normalisation, reductions) and what goes piece by piece over
// the rows of a value: vector instructions on fp32 temporaries in the unified buffer.
#include "sim/error/error.h"
#include "workloads/network/tpu/lowering.h"

#include <algorithm>

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::DataType;
using tpu::Function;
using tpu::Reduction;

void Lowering::by_rows(const Place& x, const Place& y, uint64_t temporaries,
                       const std::function<void(const Tile&, const Tile&, int64_t, int64_t)>& body,
                       int64_t columns_of_row) {
    Place from = x, to = y;
    // Dimensions of extent 1 are no columns in memory.
    const bool any_row = columns_of_row == 0 || columns_of_row == in_memory_order(x).shape.back();
    if (is_dense(x) && x.strides == y.strides && any_row) {
        from = in_memory_order(x);
        to = in_memory_order(y);
    }
    if (!matrices_of(from)) from = dense_copy(from, "rows");
    const auto in = matrices_of(from), out = matrices_of(to);
    if (!in || !out) throw InputError("its operand does not lie row by row");
    // The pieces of the operand, each within a piece of the result.
    const int64_t columns = (*in)[0].columns;
    const uint64_t row_bytes =
        static_cast<uint64_t>(columns) * (tpu::size_of(x.type) + tpu::size_of(y.type)) +
        temporaries;
    const auto most = static_cast<int64_t>(
        std::max<uint64_t>(1, window_room() / 2 / std::max<uint64_t>(1, row_bytes)));
    size_t o = 0;
    int64_t out_row = 0, done = 0;
    for (const Matrix& m : *in)
        for (int64_t row = 0; row < m.rows;) {
            if (out_row == (*out)[o].rows) {
                ++o;
                out_row = 0;
            }
            const Matrix& result = (*out)[o];
            const int64_t count = std::min({most, m.rows - row, result.rows - out_row});
            const Tile a = stage(m, row, count);
            const Tile b = stage_result(result, out_row, count);
            body(a, b, done, count);
            done += count;
            unstage(b, result, out_row, count);
            row += count;
            out_row += count;
        }
}

void Lowering::reduce(Reduction reduction, const Tile& a, const Tile& out, int64_t rows,
                      int64_t columns) {
    check_held(a);
    emit(Opcode::kReduce, {{Field::kReduction, reduction},
                           {Field::kAxis, tpu::Axis::kColumns},
                           {Field::kA, a.address},
                           {Field::kAPitch, a.pitch},
                           {Field::kAType, a.type},
                           {Field::kAScale, 1.0f},
                           {Field::kDestination, out.address},
                           {Field::kPitch, out.pitch},
                           {Field::kType, out.type},
                           {Field::kOutScale, 1.0f},
                           {Field::kRows, rows},
                           {Field::kColumns, columns}});
}

namespace {

void need_vector_unit(bool has_it) {
    if (!has_it) throw InputError("generation 1 has no instruction for it");
}

void need_last_axis(const Node& node, int64_t otherwise, size_t rank) {
    int64_t axis = node.integer("axis", otherwise);
    if (axis < 0) axis += static_cast<int64_t>(rank);
    if (axis + 1 != static_cast<int64_t>(rank)) throw InputError("not along the last axis");
}

}  // namespace

void Lowering::lower_softmax(const Node& node) {
    need_vector_unit(has_memory());
    const ValueId x = node.inputs[0], y = node.outputs[0];
    need_last_axis(node, -1, shape(x).size());
    begin_step(node.name);
    const int64_t columns = shape(x).back();
    Place to = dense_place(y);
    by_rows(
        place(x), to, static_cast<uint64_t>(columns) * 4,
        [&](const Tile& in, const Tile& out, int64_t, int64_t rows) {
            const Tile one = temporary(rows, 1, DataType::kFp32),
                       powers = temporary(rows, columns, DataType::kFp32);
            reduce(Reduction::kMax, in, one, rows, columns);
            vector_op(Function::kSubtract, Function::kExp, in, &one, Broadcast::kColumn, 0, powers,
                      rows, columns);
            reduce(Reduction::kSum, powers, one, rows, columns);
            vector_op(Function::kReciprocal, Function::kIdentity, one, nullptr, Broadcast::kNone, 0,
                      one, rows, 1);
            vector_op(Function::kMultiply, Function::kIdentity, powers, &one, Broadcast::kColumn, 0,
                      out, rows, columns);
        },
        columns);
    set_place(y, std::move(to));
}

void Lowering::lower_layer_normalisation(const Node& node) {
    need_vector_unit(has_memory());
    const ValueId x = node.inputs[0], y = node.outputs[0];
    need_last_axis(node, -1, shape(x).size());
    begin_step(node.name);
    const int64_t columns = shape(x).back();
    const float epsilon = node.real("epsilon", 1e-5f);
    const auto row_of = [&](ValueId id) {
        const Place& p = place(id);
        return Matrix{p.space, p.address, p.type, 1, columns, columns};
    };
    const bool has_bias = node.input(2) != kNoValue;
    const Matrix scale = row_of(node.inputs.at(1));
    const uint64_t bytes = static_cast<uint64_t>(columns) * tpu::size_of(scale.type);
    const uint64_t parameters = ring_.pin(2 * bytes);
    const Tile scale_tile{parameters, bytes, scale.type},
        bias_tile{parameters + bytes, bytes, scale.type};
    // Three passes over the rows, each a kernel that ends with what the next one needs of all of a
    // row: means, reciprocal deviations, results.
    const int64_t rows_in_all = element_count(shape(x)) / columns;
    const auto statistics = [&](const char* suffix) {
        const uint64_t size = static_cast<uint64_t>(rows_in_all) * 4;
        const uint64_t address = builder_.address(
            add_buffer(node.name + suffix, backing(), tpu::Role::kScratch, DataType::kFp32, size));
        Place column;
        column.space = backing();
        column.address = address;
        column.type = DataType::kFp32;
        column.shape = shape(x);
        column.shape.back() = 1;
        column.strides = dense_strides(column.shape);
        return column;
    };
    const Place means = statistics(".mean"), deviations = statistics(".deviation");
    const auto stage_column = [&](const Place& column, int64_t row, int64_t rows) {
        return stage({column.space, column.address, column.type, rows_in_all, 1, 1}, row, rows);
    };
    const auto centre = [&](const Tile& in, int64_t row, int64_t rows) {
        const Tile mean = stage_column(means, row, rows),
                   centred = temporary(rows, columns, DataType::kFp32);
        vector_op(Function::kSubtract, Function::kIdentity, in, &mean, Broadcast::kColumn, 0,
                  centred, rows, columns);
        return centred;
    };
    const uint64_t temporaries = static_cast<uint64_t>(columns) * 4;
    by_rows(
        place(x), means, 0,
        [&](const Tile& in, const Tile& out, int64_t, int64_t rows) {
            reduce(Reduction::kMean, in, out, rows, columns);
        },
        columns);
    begin_kernel();
    by_rows(
        place(x), deviations, temporaries,
        [&](const Tile& in, const Tile& out, int64_t row, int64_t rows) {
            const Tile centred = centre(in, row, rows);
            reduce(Reduction::kSumOfSquares, centred, out, rows, columns);
            vector_op(Function::kMultiply, Function::kIdentity, out, nullptr, Broadcast::kImmediate,
                      1.0f / static_cast<float>(columns), out, rows, 1);
            vector_op(Function::kAdd, Function::kRsqrt, out, nullptr, Broadcast::kImmediate,
                      epsilon, out, rows, 1);
        },
        columns);
    begin_kernel();
    stage_at(scale_tile.address, scale, 0, 1);
    if (has_bias) stage_at(bias_tile.address, row_of(node.inputs[2]), 0, 1);
    Place to = dense_place(y);
    by_rows(
        place(x), to, temporaries,
        [&](const Tile& in, const Tile& out, int64_t row, int64_t rows) {
            const Tile centred = centre(in, row, rows),
                       deviation = stage_column(deviations, row, rows);
            vector_op(Function::kMultiply, Function::kIdentity, centred, &deviation,
                      Broadcast::kColumn, 0, centred, rows, columns);
            vector_op(Function::kMultiply, Function::kIdentity, centred, &scale_tile,
                      Broadcast::kRow, 0, has_bias ? centred : out, rows, columns);
            if (has_bias)
                vector_op(Function::kAdd, Function::kIdentity, centred, &bias_tile, Broadcast::kRow,
                          0, out, rows, columns);
        },
        columns);
    ring_.release();
    set_place(y, std::move(to));
}

void Lowering::lower_reduce(const Node& node) {
    need_vector_unit(has_memory());
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const Shape& s = shape(x);
    std::vector<int64_t> axes = node.integers("axes");
    if (node.input(1) != kNoValue && value(node.input(1)).is_known())
        axes = to_integers(*value(node.input(1)).data);
    const auto rank = static_cast<int64_t>(s.size());
    if (axes.size() != 1 || (axes[0] != -1 && axes[0] != rank - 1))
        throw InputError("not along the last axis");
    const Reduction reduction = node.op == Operator::kReduceMean  ? Reduction::kMean
                                : node.op == Operator::kReduceSum ? Reduction::kSum
                                                                  : Reduction::kMax;
    begin_step(node.name);
    Place to = dense_place(y), column = to;
    column.shape = s;
    column.shape.back() = 1;
    column.strides = dense_strides(column.shape);
    by_rows(
        place(x), column, 0,
        [&](const Tile& in, const Tile& out, int64_t, int64_t rows) {
            reduce(reduction, in, out, rows, s.back());
        },
        s.back());
    set_place(y, std::move(to));
}

}  // namespace lockstep::network::lowering
