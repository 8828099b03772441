// SPDX-License-Identifier: Apache-2.0
// Operators along rows (softmax, layer normalisation, reductions): vector instructions on fp32
// temporaries in the unified buffer.
#include <algorithm>

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

}  // namespace

compile::Reason reason_row(const Asked& a) {
    if (a.target.generation == 1) return kNoInstruction;
    const auto rank = static_cast<std::int64_t>(a.graph.shape(a.node.inputs[0]).size());
    const std::int64_t axis = a.node.integer("axis", -1);
    if ((axis < 0 ? axis + rank : axis) + 1 != rank) return kOtherAxis;
    return std::nullopt;
}

compile::Reason reason_reduction(const Asked& a) {
    if (a.target.generation == 1) return kNoInstruction;
    std::vector<std::int64_t> axes = a.node.integers("axes");
    if (const ValueId given = a.node.input(1); given != kNoValue && a.graph.value(given).is_known())
        axes = to_integers(*a.graph.value(given).data);
    const auto rank = static_cast<std::int64_t>(a.graph.shape(a.node.inputs[0]).size());
    if (axes.size() != 1 || (axes[0] != -1 && axes[0] != rank - 1)) return kOtherAxis;
    return std::nullopt;
}

void lower_softmax(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    c.steps.begin(node.name);
    const std::int64_t columns = c.shape(x).back();
    Place to = c.places.make_dense(y);
    by_rows(
        c, c.places.of(x), to, static_cast<std::uint64_t>(columns) * 4,
        [&](const BufferRows& in, const BufferRows& out, std::int64_t, std::int64_t rows) {
            const BufferRows one = c.staging.temporary(rows, 1, DataType::kFp32),
                             powers = c.staging.temporary(rows, columns, DataType::kFp32);
            reduce(c, Reduction::kMax, in, one, rows, columns);
            vector_op(c, Function::kSubtract, Function::kExp, in, &one, Broadcast::kColumn, 0,
                      powers, rows, columns);
            reduce(c, Reduction::kSum, powers, one, rows, columns);
            vector_op(c, Function::kReciprocal, Function::kIdentity, one, nullptr, Broadcast::kNone,
                      0, one, rows, 1);
            vector_op(c, Function::kMultiply, Function::kIdentity, powers, &one, Broadcast::kColumn,
                      0, out, rows, columns);
        },
        columns);
    c.places.set(y, std::move(to));
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
    const std::uint64_t parameters = c.staging.ring().pin(2 * bytes);
    const BufferRows scale_tile{parameters, bytes, scale.type},
        bias_tile{parameters + bytes, bytes, scale.type};
    // Three passes over the rows, each a kernel that ends with what the next one needs of all of a
    // row: means, reciprocal deviations, results.
    const std::int64_t rows_in_all = element_count(c.shape(x)) / columns;
    const auto statistics = [&](const char* suffix) {
        const std::uint64_t size = static_cast<std::uint64_t>(rows_in_all) * 4;
        const std::uint64_t address = c.builder.address(c.places.add_buffer(
            node.name + suffix, c.places.backing(), tpu::Role::kScratch, DataType::kFp32, size));
        Place column;
        column.space = c.places.backing();
        column.address = address;
        column.type = DataType::kFp32;
        column.shape = c.shape(x);
        column.shape.back() = 1;
        column.strides = dense_strides(column.shape);
        return column;
    };
    const Place means = statistics(".mean"), deviations = statistics(".deviation");
    const auto stage_column = [&](const Place& column, std::int64_t row, std::int64_t rows) {
        return c.staging.load({column.space, column.address, column.type, rows_in_all, 1, 1}, row,
                              rows);
    };
    const auto centre = [&](const BufferRows& in, std::int64_t row, std::int64_t rows) {
        const BufferRows mean = stage_column(means, row, rows),
                         centred = c.staging.temporary(rows, columns, DataType::kFp32);
        vector_op(c, Function::kSubtract, Function::kIdentity, in, &mean, Broadcast::kColumn, 0,
                  centred, rows, columns);
        return centred;
    };
    const std::uint64_t temporaries = static_cast<std::uint64_t>(columns) * 4;
    by_rows(
        c, c.places.of(x), means, 0,
        [&](const BufferRows& in, const BufferRows& out, std::int64_t, std::int64_t rows) {
            reduce(c, Reduction::kMean, in, out, rows, columns);
        },
        columns);
    c.steps.begin_kernel();
    by_rows(
        c, c.places.of(x), deviations, temporaries,
        [&](const BufferRows& in, const BufferRows& out, std::int64_t row, std::int64_t rows) {
            const BufferRows centred = centre(in, row, rows);
            reduce(c, Reduction::kSumOfSquares, centred, out, rows, columns);
            vector_op(c, Function::kMultiply, Function::kIdentity, out, nullptr,
                      Broadcast::kImmediate, 1.0f / static_cast<float>(columns), out, rows, 1);
            vector_op(c, Function::kAdd, Function::kRsqrt, out, nullptr, Broadcast::kImmediate,
                      epsilon, out, rows, 1);
        },
        columns);
    c.steps.begin_kernel();
    c.staging.load_at(scale_tile.address, scale, 0, 1);
    if (has_bias) c.staging.load_at(bias_tile.address, row_of(node.inputs[2]), 0, 1);
    Place to = c.places.make_dense(y);
    by_rows(
        c, c.places.of(x), to, temporaries,
        [&](const BufferRows& in, const BufferRows& out, std::int64_t row, std::int64_t rows) {
            const BufferRows centred = centre(in, row, rows),
                             deviation = stage_column(deviations, row, rows);
            vector_op(c, Function::kMultiply, Function::kIdentity, centred, &deviation,
                      Broadcast::kColumn, 0, centred, rows, columns);
            vector_op(c, Function::kMultiply, Function::kIdentity, centred, &scale_tile,
                      Broadcast::kRow, 0, has_bias ? centred : out, rows, columns);
            if (has_bias)
                vector_op(c, Function::kAdd, Function::kIdentity, centred, &bias_tile,
                          Broadcast::kRow, 0, out, rows, columns);
        },
        columns);
    c.staging.ring().release();
    c.places.set(y, std::move(to));
}

void lower_reduction(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const Shape& s = c.shape(x);
    const Reduction reduction = node.op == Operator::kReduceMean  ? Reduction::kMean
                                : node.op == Operator::kReduceSum ? Reduction::kSum
                                                                  : Reduction::kMax;
    c.steps.begin(node.name);
    Place to = c.places.make_dense(y), column = to;
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
