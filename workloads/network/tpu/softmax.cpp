// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/softmax.h"

#include <algorithm>

#include "workloads/network/tpu/copies.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network::lowering {

using tpu::Axis;
using tpu::Broadcast;
using tpu::DataType;
using tpu::Function;
using tpu::Reduction;

namespace {

constexpr std::uint64_t kBytes = 4;  // of a statistic: fp32

std::vector<Matrix> in_shorter_parts(const std::vector<Matrix>& x) {
    std::vector<Matrix> parts;
    for (const Matrix& m : x)
        for (std::int64_t row = 0; row < m.rows; row += Softmax::kMostRows) {
            parts.push_back(m);
            parts.back().address = m.row_address(row);
            parts.back().rows = std::min(Softmax::kMostRows, m.rows - row);
        }
    return parts;
}

}  // namespace

Softmax::Softmax(Compilation& c, const std::string& name, std::vector<Matrix> x, Axis axis)
    : c_(c), axis_(axis) {
    const auto count = [&](const Matrix& m) {
        return static_cast<std::uint64_t>(by_rows() ? m.rows : m.columns);
    };
    std::uint64_t all = 0;
    for (const Matrix& m : x) all += count(m);
    const auto statistics = [&](const char* suffix) {
        return c.builder.address(c.places.add_buffer(
            name + suffix, c.places.backing(), tpu::Role::kScratch, DataType::kFp32, all * kBytes));
    };
    if (by_rows()) x = in_shorter_parts(x);
    std::uint64_t maxima = statistics(".maxima"), factors = statistics(".factors");
    for (const Matrix& m : x) {
        Matrix column{c.places.backing(), maxima, DataType::kFp32, m.rows, 1, 1};
        if (!by_rows()) column = {column.space, maxima, column.type, 1, m.columns, m.columns};
        Part part{m, column, column};
        part.factors.address = factors;
        maxima += count(m) * kBytes;
        factors += count(m) * kBytes;
        parts_.push_back(part);
    }
}

std::uint64_t Softmax::running_bytes(std::size_t part) const {
    return compile::aligned(parts_[part].maxima.bytes());
}

BufferRows Softmax::running_of(std::uint64_t running, std::int64_t row, std::int64_t column,
                               std::int64_t columns) const {
    if (by_rows())
        return {running + static_cast<std::uint64_t>(row) * kBytes, kBytes, DataType::kFp32};
    return {running + static_cast<std::uint64_t>(column) * kBytes,
            static_cast<std::uint64_t>(columns) * kBytes, DataType::kFp32};
}

void Softmax::take_maxima(const BufferRows& block, std::int64_t first_row, std::int64_t rows,
                          std::int64_t first_column, std::int64_t columns, std::uint64_t running) {
    const std::int64_t results = by_rows() ? rows : 1, width = by_rows() ? 1 : columns;
    const BufferRows all = running_of(running, first_row, first_column, columns);
    if ((by_rows() ? first_column : first_row) == 0)
        return reduce(c_, Reduction::kMax, block, all, rows, columns, axis_);
    const BufferRows one = c_.staging.temporary(results, width, DataType::kFp32);
    reduce(c_, Reduction::kMax, block, one, rows, columns, axis_);
    vector_op(c_, Function::kMaximum, Function::kIdentity, all, &one, Broadcast::kNone, 0, all,
              results, width);
}

void Softmax::store_maxima(std::size_t part, std::uint64_t running) {
    const Matrix& maxima = parts_[part].maxima;
    c_.staging.store(running_of(running, 0, 0, maxima.columns), maxima, 0, maxima.rows);
}

Softmax::Places Softmax::pin_for_parts(std::uint64_t (Softmax::*bytes)(std::size_t) const) {
    constexpr std::uint64_t kSmall = 32, kLeast = 2;
    std::uint64_t most = 1;
    for (std::size_t i = 0; i < parts_.size(); ++i) most = std::max(most, (this->*bytes)(i));
    compile::Ring& ring = c_.staging.ring();
    const std::uint64_t count =
        std::min(parts_.size(), std::max(kLeast, ring.size() / kSmall / most));
    return {ring.pin(count * most), most, count};
}

std::optional<Softmax::Group> Softmax::group_from(std::size_t first) const {
    const Part& part = parts_[first];
    if (by_rows() || part.x.pitch != part.x.columns || part.x.space == tpu::Space::kUnifiedBuffer)
        return std::nullopt;
    const auto most = static_cast<std::size_t>(
        matrices_together(c_, part.x.bytes(), static_cast<std::int64_t>(parts_.size() - first)));
    std::size_t count = 1;
    const auto follows = [&](const Matrix& x) {
        return x.address == part.x.address + count * part.x.bytes() && x.rows == part.x.rows &&
               x.pitch == x.columns && x.columns == part.x.columns;
    };
    while (count < most && follows(parts_[first + count].x)) ++count;
    if (count == 1) return std::nullopt;
    Group group{count, part.x, part.maxima, part.factors};
    for (Matrix* all : {&group.x, &group.maxima, &group.factors})
        all->rows *= static_cast<std::int64_t>(count);
    return group;
}

void Softmax::maxima_of(const Group& group) {
    const std::int64_t rows = group.rows(), columns = group.x.columns;
    const BufferRows x = c_.staging.load(group.x, 0, group.x.rows),
                     maxima = c_.staging.room_for(group.maxima, 0, group.maxima.rows);
    for (std::int64_t i = 0; i < group.maxima.rows; ++i)
        reduce(c_, Reduction::kMax, row_of(x, i * rows), row_of(maxima, i), rows, columns, axis_);
    c_.staging.store(maxima, group.maxima, 0, group.maxima.rows);
}

void Softmax::sums_of(const Group& group) {
    const std::int64_t rows = group.rows(), columns = group.x.columns;
    const BufferRows maxima = c_.staging.load(group.maxima, 0, group.maxima.rows),
                     x = c_.staging.load(group.x, 0, group.x.rows),
                     sums = c_.staging.room_for(group.factors, 0, group.factors.rows);
    for (std::int64_t i = 0; i < group.maxima.rows; ++i)
        powers(row_of(maxima, i), row_of(x, i * rows), rows, columns)
            .reduce(Reduction::kSum, row_of(sums, i), axis_);
    vector_op(c_, Function::kReciprocal, Function::kIdentity, sums, nullptr, Broadcast::kNone, 0,
              sums, group.factors.rows, columns);
    c_.staging.store(sums, group.factors, 0, group.factors.rows);
}

void Softmax::results_of(const Group& group, const Matrix& out, std::int64_t out_row) {
    const std::int64_t rows = group.rows(), columns = group.x.columns;
    const BufferRows maxima = c_.staging.load(group.maxima, 0, group.maxima.rows),
                     factors = c_.staging.load(group.factors, 0, group.factors.rows),
                     x = c_.staging.load(group.x, 0, group.x.rows),
                     to = c_.staging.room_for(out, out_row, group.x.rows);
    for (std::int64_t i = 0; i < group.maxima.rows; ++i) {
        Loop loop = powers(row_of(maxima, i), row_of(x, i * rows), rows, columns);
        loop.apply(Function::kMultiply, row_of(factors, i), spread());
        loop.store(row_of(to, i * rows));
    }
    c_.staging.store(to, out, out_row, group.x.rows);
}

void Softmax::maxima_kernel() {
    const Places places = pin_for_parts(&Softmax::running_bytes);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (const std::optional<Group> group = group_from(i)) {
            maxima_of(*group);
            i += group->count - 1;
            continue;
        }
        const Matrix& x = parts_[i].x;
        const std::uint64_t running = places.of(i);
        const std::int64_t window = window_rows(c_, x.bytes(), x.rows, 0);
        for (std::int64_t row = 0; row < x.rows; row += window) {
            const std::int64_t rows = std::min(window, x.rows - row);
            take_maxima(c_.staging.load(x, row, rows), row, rows, 0, x.columns, running);
        }
        store_maxima(i, running);
    }
    c_.staging.ring().release();
}

Loop Softmax::powers(const BufferRows& maxima, const BufferRows& x, std::int64_t rows,
                     std::int64_t columns) {
    Loop loop(c_, x, rows, columns);
    loop.apply(Function::kSubtract, maxima, spread(), Function::kExp);
    return loop;
}

void Softmax::sums_kernel() {
    const Places places = pin_for_parts(&Softmax::statistics_bytes);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (const std::optional<Group> group = group_from(i)) {
            sums_of(*group);
            i += group->count - 1;
            continue;
        }
        const Part& part = parts_[i];
        const std::int64_t columns = part.x.columns,
                           window = window_rows(c_, part.x.bytes(), part.x.rows, 0);
        const std::uint64_t maxima = places.of(i), running = maxima + running_bytes(i);
        c_.staging.load_at(maxima, part.maxima, 0, part.maxima.rows);
        for (std::int64_t row = 0; row < part.x.rows; row += window) {
            const std::int64_t rows = std::min(window, part.x.rows - row);
            Loop loop = powers(running_of(maxima, row, 0, columns),
                               c_.staging.load(part.x, row, rows), rows, columns);
            const BufferRows all = running_of(running, row, 0, columns);
            const bool is_first = by_rows() || row == 0;
            const BufferRows sums =
                is_first ? all : c_.staging.temporary(1, columns, DataType::kFp32);
            loop.reduce(Reduction::kSum, sums, axis_);
            if (!is_first)
                vector_op(c_, Function::kAdd, Function::kIdentity, all, &sums, Broadcast::kNone, 0,
                          all, 1, columns);
        }
        // As one row, however they lie.
        const std::int64_t count = part.factors.rows * part.factors.columns;
        const BufferRows sums{running, static_cast<std::uint64_t>(count) * kBytes, DataType::kFp32};
        vector_op(c_, Function::kReciprocal, Function::kIdentity, sums, nullptr, Broadcast::kNone,
                  0, sums, 1, count);
        c_.staging.store(running_of(running, 0, 0, columns), part.factors, 0, part.factors.rows);
    }
    c_.staging.ring().release();
}

void Softmax::load_statistics(std::size_t index, std::uint64_t statistics) {
    const Part& part = parts_[index];
    c_.staging.load_at(statistics, part.maxima, 0, part.maxima.rows);
    c_.staging.load_at(statistics + running_bytes(index), part.factors, 0, part.factors.rows);
}

void Softmax::apply(std::size_t index, std::uint64_t statistics, const BufferRows& x,
                    std::int64_t first_row, std::int64_t rows, const BufferRows& out) {
    const Part& part = parts_[index];
    Loop loop =
        powers(running_of(statistics, first_row, 0, part.x.columns), x, rows, part.x.columns);
    loop.apply(Function::kMultiply,
               running_of(statistics + running_bytes(index), first_row, 0, part.x.columns),
               spread());
    loop.store(out);
}

void Softmax::results_kernel(const Matrix& out) {
    const Places places = pin_for_parts(&Softmax::statistics_bytes);
    std::int64_t first = 0, column = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Matrix& x = parts_[i].x;
        if (const std::optional<Group> group = group_from(i); group && x.columns == out.columns) {
            results_of(*group, out, first);
            first += group->x.rows;
            i += group->count - 1;
            continue;
        }
        Matrix piece = out;
        piece.columns = x.columns;
        piece.address += static_cast<std::uint64_t>(column) * tpu::size_of(out.type);
        const std::uint64_t statistics = places.of(i);
        load_statistics(i, statistics);
        const std::int64_t window =
            window_rows(c_, x.bytes(), x.rows, static_cast<std::uint64_t>(x.columns) * kBytes);
        for (std::int64_t row = 0; row < x.rows; row += window) {
            const std::int64_t rows = std::min(window, x.rows - row);
            const BufferRows in = c_.staging.load(x, row, rows),
                             to = c_.staging.room_for(piece, first + row, rows);
            apply(i, statistics, in, row, rows, to);
            c_.staging.store(to, piece, first + row, rows);
        }
        column += x.columns;
        if (column < out.columns) continue;
        column = 0;
        first += x.rows;
    }
    c_.staging.ring().release();
}

bool is_along_rows(const Graph& graph, const Node& node) {
    const auto rank = static_cast<std::int64_t>(graph.shape(node.inputs[0]).size());
    const std::int64_t axis = node.integer("axis", -1);
    return node.op == Operator::kSoftmax && node.integer("flatten", 0) == 0 && rank >= 2 &&
           (axis < 0 ? axis + rank : axis) + 2 == rank;
}

compile::Reason reason_softmax(const Asked& a) {
    return a.target.generation >= 2 && is_along_rows(a.graph, a.node) ? std::nullopt
                                                                      : reason_row(a);
}

void lower_softmax(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    c.steps.begin(node.name);
    const bool along_rows = is_along_rows(c.graph, node);
    const std::int64_t rows = along_rows ? c.shape(x).rbegin()[1] : 1;
    // Matrices of whole columns, where these are normalised.
    const auto matrices = [&](const Place& place) -> std::optional<std::vector<Matrix>> {
        const auto found = matrices_of(place);
        if (!found || !along_rows) return found;
        std::vector<Matrix> list;
        for (Matrix m : *found) {
            if (m.rows % rows != 0) return std::nullopt;
            for (std::int64_t row = 0; row < m.rows; row += rows) {
                Matrix one = m;
                one.rows = rows;
                const std::int64_t piece = window_columns(c, one);
                for (std::int64_t column = 0; column < m.columns; column += piece) {
                    one.address = m.row_address(row) + place.bytes_of(column);
                    one.columns = std::min(piece, m.columns - column);
                    list.push_back(one);
                }
            }
        }
        return list;
    };
    Place from = c.places.of(x);
    if (!matrices(from)) from = dense_copy(c, from, node.name + ".rows");
    const auto parts = matrices(from);
    Place to = c.places.make_dense(y);
    const auto out = matrices_of(to);
    if (!parts || !out || out->size() != 1)
        throw compile::Refusal("its operand does not lie row by row");
    Softmax softmax(c, node.name, *parts, along_rows ? Axis::kRows : Axis::kColumns);
    softmax.maxima_kernel();
    c.steps.begin_kernel();
    softmax.sums_kernel();
    c.steps.begin_kernel();
    softmax.results_kernel((*out)[0]);
    c.places.set(y, std::move(to));
}

}  // namespace lockstep::network::lowering
