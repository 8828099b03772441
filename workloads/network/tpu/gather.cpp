// SPDX-License-Identifier: Apache-2.0
// Elements taken by indices along one dimension: rows of a table by an instruction; by constants,
// copies of runs.
#include <algorithm>

#include "sim/error/error.h"
#include "sim/numerics/integer.h"
#include "workloads/network/tpu/copies.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network::lowering {

using tpu::Field;
using tpu::Opcode;

namespace {

std::int64_t axis_of_gather(const Graph& graph, const Node& node) {
    const std::int64_t axis = node.integer("axis", 0);
    return axis < 0 ? axis + static_cast<std::int64_t>(graph.shape(node.inputs[0]).size()) : axis;
}

/// Rows of a table, which generation 2 and later have an instruction for.
bool is_by_rows(const Graph& graph, const Node& node) {
    return axis_of_gather(graph, node) == 0 && graph.shape(node.inputs[0]).size() == 2;
}

/// By known indices, that a copy of runs is best for.
bool is_by_constants(const Graph& graph, const TpuTarget& target, const Node& node) {
    return graph.value(node.inputs[1]).is_known() &&
           (target.generation == 1 || !is_by_rows(graph, node));
}

/// Elements `to`, `to` + spread, ... of a result are elements `from`, `from` + step, ... of the
/// operand.
struct Run {
    std::int64_t from, step, to, spread, count;
};

/// The indices as few runs: those of an enlarged image repeat with a period.
std::vector<Run> runs_of(const std::vector<std::int64_t>& indices) {
    const auto count = static_cast<std::int64_t>(indices.size());
    const auto at = [&](std::int64_t i) { return indices[static_cast<std::size_t>(i)]; };
    for (std::int64_t period = 1; period <= std::min<std::int64_t>(8, count); ++period) {
        std::vector<Run> runs;
        for (std::int64_t first = 0; first < period; ++first) {
            const std::int64_t step = first + period < count ? at(first + period) - at(first) : 1;
            const std::int64_t length = numerics::divide_up(count - first, period);
            bool regular = step >= 0;
            for (std::int64_t i = 1; i < length && regular; ++i)
                regular = at(first + i * period) - at(first + (i - 1) * period) == step;
            if (regular) runs.push_back({at(first), step, first, period, length});
        }
        if (static_cast<std::int64_t>(runs.size()) == period) return runs;
    }
    std::vector<Run> runs;
    for (std::int64_t i = 0; i < count;) {
        std::int64_t end = i + 1;
        while (end < count && at(end) == at(end - 1) + 1) ++end;
        runs.push_back({at(i), 1, i, 1, end - i});
        i = end;
    }
    return runs;
}

void lower_by_constants(Compilation& c, const Node& node) {
    const ValueId y = node.outputs[0];
    const Place table = c.places.of(node.inputs[0]);
    const Value& which = c.value(node.inputs[1]);
    const auto d = static_cast<std::size_t>(axis_of_gather(c.graph, node));
    LOCKSTEP_CHECK(table.image.empty(), "{} reads a flattened image", node.name);
    std::vector<std::int64_t> indices = to_integers(*which.data);
    for (std::int64_t& index : indices)
        if (index < 0) index += table.shape[d];
    c.steps.begin(node.name);
    // The indices as one dimension, taken apart again at the end.
    Shape along = table.shape;
    along[d] = static_cast<std::int64_t>(indices.size());
    Place to = c.places.make(y, {});
    to.shape = along;
    to.strides = strides_like(table, along);
    for (const Run& run : runs_of(indices)) {
        Place part = table, result = to;
        part.owner = result.owner = nullptr;
        part.address += part.bytes_of(run.from * table.strides[d]);
        part.strides[d] *= run.step;
        result.address += result.bytes_of(run.to * to.strides[d]);
        result.strides[d] *= run.spread;
        part.shape[d] = result.shape[d] = run.count;
        copy(c, part, result);
    }
    const std::optional<Place> view = compile::reshaped(to, c.shape(y));
    LOCKSTEP_CHECK(view.has_value(), "{}", node.name);
    c.places.set(y, *view);
}

}  // namespace

compile::Reason reason_gather(const Asked& a) {
    const Value& which = a.graph.value(a.node.inputs[1]);
    if (which.is_known() && element_count(*which.shape) == 1) return std::nullopt;
    if (is_by_constants(a.graph, a.target, a.node)) {
        const std::int64_t extent = a.graph.shape(
            a.node.inputs[0])[static_cast<std::size_t>(axis_of_gather(a.graph, a.node))];
        for (const std::int64_t index : to_integers(*which.data))
            if (index < -extent || index >= extent)
                return fmt::format("index {} of {}", index < 0 ? index + extent : index, extent);
        return std::nullopt;
    }
    if (a.target.generation == 1) return "generation 1 has no instruction for it";
    if (!is_by_rows(a.graph, a.node)) return "not of the rows of a table";
    return std::nullopt;
}

void lower_gather(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0], index = node.inputs[1], y = node.outputs[0];
    const Place table = c.places.of(x);
    const std::int64_t axis = axis_of_gather(c.graph, node);
    const Value& which = c.value(index);
    const auto d = static_cast<std::size_t>(axis);
    if (which.is_known() && element_count(*which.shape) == 1) {
        Place part = table;
        std::int64_t at = to_integers(*which.data)[0];
        if (at < 0) at += table.shape[d];
        part.address += part.bytes_of(at * part.strides[d]);
        part.shape.erase(part.shape.begin() + axis);
        part.strides.erase(part.strides.begin() + axis);
        part.shape.insert(part.shape.begin() + axis, which.shape->begin(), which.shape->end());
        part.strides.insert(part.strides.begin() + axis, which.shape->size(), 0);
        return c.places.set(y, std::move(part));
    }
    if (is_by_constants(c.graph, c.target, node)) return lower_by_constants(c, node);
    if (table.strides.back() != 1) throw compile::Refusal("not of the rows of a table");
    c.steps.begin(node.name);
    const std::int64_t rows = element_count(*which.shape), columns = table.shape[1];
    const Place indices = c.places.of(index);
    if (!compile::is_dense(indices))
        throw compile::Refusal("indices that do not follow each other");
    Place to = c.places.make_dense(y);
    const auto size = tpu::size_of(table.type);
    const std::int64_t most =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(c.staging.window_room() / 8) /
                                      (columns * static_cast<std::int64_t>(size)));
    const Matrix list{indices.space, indices.address, indices.type, rows, 1, 1};
    const Matrix out{to.space, to.address, to.type, rows, columns, columns};
    for (std::int64_t row = 0; row < rows; row += most) {
        const std::int64_t count = std::min(most, rows - row);
        const BufferRows at = c.staging.load(list, row, count),
                         tile = c.staging.room_for(out, row, count);
        c.builder.emit(Opcode::kGather,
                       {{Field::kMemory, table.address},
                        {Field::kIndices, at.address},
                        {Field::kDestination, tile.address},
                        {Field::kRows, count},
                        {Field::kRowBytes, static_cast<std::uint64_t>(columns) * size},
                        {Field::kSourcePitch, static_cast<std::uint64_t>(table.strides[0]) * size},
                        {Field::kDestinationPitch, tile.pitch}});
        c.staging.store(tile, out, row, count);
    }
    c.places.set(y, std::move(to));
}

}  // namespace lockstep::network::lowering
