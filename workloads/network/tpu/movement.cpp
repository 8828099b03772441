// SPDX-License-Identifier: Apache-2.0
// Operators that move values or only see them in another way. Reshaping, transposition, slicing
// and splitting cost nothing where the next reader can follow the strides; else a copy is made.
#include "sim/error/error.h"
#include "workloads/network/tpu/lowering.h"

#include <algorithm>

namespace lockstep::network::lowering {

namespace {

std::vector<int64_t> known_integers(const Lowering&, const Value& value) {
    if (!value.is_known()) throw InputError(fmt::format("{} is not known", value.name));
    return to_integers(*value.data);
}

}  // namespace

void Lowering::lower_movement(const Node& node) {
    const ValueId x = node.inputs[0];
    Place from = place(x);
    const auto give = [&](ValueId y, std::optional<Place> view) {
        if (!view) {
            begin_step(node.name);
            view = reshaped(dense_copy(from, node.name), shape(y));
        }
        set_place(y, std::move(*view));
    };
    const auto rank = static_cast<int64_t>(from.shape.size());
    switch (node.op) {
        case Operator::kTranspose: {
            std::vector<int64_t> perm = node.integers("perm");
            if (perm.empty())
                for (int64_t d = rank; d-- > 0;) perm.push_back(d);
            return set_place(node.outputs[0], permuted(from, perm));
        }
        case Operator::kSplit: {
            int64_t axis = node.integer("axis", 0), at = 0;
            if (axis < 0) axis += rank;
            for (const ValueId y : node.outputs) {
                Place part = from;
                const auto d = static_cast<size_t>(axis);
                part.address += part.bytes_of(at * part.strides[d]);
                if (y != kNoValue) part.shape = shape(y);
                at += y == kNoValue ? 0 : shape(y)[d];
                if (y == kNoValue) throw InputError("a part that is left out");
                set_place(y, std::move(part));
            }
            return;
        }
        case Operator::kSlice: {
            const auto starts = known_integers(*this, value(node.inputs.at(1)));
            std::vector<int64_t> axes, steps(starts.size(), 1);
            for (int64_t d = 0; d < static_cast<int64_t>(starts.size()); ++d) axes.push_back(d);
            if (node.input(3) != kNoValue) axes = known_integers(*this, value(node.input(3)));
            if (node.input(4) != kNoValue) steps = known_integers(*this, value(node.input(4)));
            Place part = from;
            for (size_t i = 0; i < starts.size(); ++i) {
                const auto d = static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
                if (steps[i] < 1) throw InputError("a slice that goes backwards");
                const int64_t extent = from.shape[d];
                const int64_t start =
                    std::clamp<int64_t>(starts[i] < 0 ? starts[i] + extent : starts[i], 0, extent);
                part.address += part.bytes_of(start * part.strides[d]);
                part.strides[d] *= steps[i];
            }
            part.shape = shape(node.outputs[0]);
            return set_place(node.outputs[0], std::move(part));
        }
        default:
            break;
    }
    const ValueId y = node.outputs[0];
    const Shape& to = shape(y);
    // An image in NHWC that becomes rows: its columns keep their order where all readers know.
    const bool flattens = from.shape.size() == 4 && to.size() == 2 && to[0] == from.shape[0] &&
                          from.strides == image_strides(from.shape) && from.shape[1] != 1 &&
                          from.shape[2] * from.shape[3] != 1 && may_stay_image(y);
    if (flattens) {
        Place rows = from;
        rows.image = {from.shape[1], from.shape[2], from.shape[3]};
        rows.shape = to;
        rows.strides = dense_strides(to);
        return set_place(y, std::move(rows));
    }
    LOCKSTEP_CHECK(from.image.empty(), "{} reads a flattened image", node.name);
    give(y, reshaped(from, to));
}

bool Lowering::may_stay_image(ValueId id) const {
    return std::all_of(readers_[id].begin(), readers_[id].end(), [&](const Node* reader) {
        if (host_nodes_.contains(reader)) return true;  // its port says how it lies
        if (reader->inputs[0] != id ||
            std::count(reader->inputs.begin(), reader->inputs.end(), id) != 1)
            return false;
        // The weights of a product are packed in the order of its rows' elements.
        if (reader->op == Operator::kGemm || reader->op == Operator::kMatMul)
            return has_constant_weights(*reader);
        const bool is_unary = reader->op == Operator::kClip || reader->op == Operator::kCast ||
                              reader->op == Operator::kQuantizeLinear ||
                              reader->op == Operator::kDequantizeLinear ||
                              (reader->inputs.size() == 1 && function_of(graph_, *reader));
        return is_unary && may_stay_image(reader->outputs[0]);
    });
}

void Lowering::lower_gather(const Node& node) {
    const ValueId x = node.inputs[0], index = node.inputs[1], y = node.outputs[0];
    int64_t axis = node.integer("axis", 0);
    const Place table = place(x);
    if (axis < 0) axis += static_cast<int64_t>(table.shape.size());
    const Value& which = value(index);
    const auto d = static_cast<size_t>(axis);
    if (which.is_known() && element_count(*which.shape) == 1) {
        Place part = table;
        int64_t at = to_integers(*which.data)[0];
        if (at < 0) at += table.shape[d];
        part.address += part.bytes_of(at * part.strides[d]);
        part.shape.erase(part.shape.begin() + axis);
        part.strides.erase(part.strides.begin() + axis);
        part.shape.insert(part.shape.begin() + axis, which.shape->begin(), which.shape->end());
        part.strides.insert(part.strides.begin() + axis, which.shape->size(), 0);
        return set_place(y, std::move(part));
    }
    if (which.is_known() && (axis != 0 || table.shape.size() != 2 || !has_memory()))
        return lower_constant_gather(node);
    if (!has_memory()) throw InputError("generation 1 has no instruction for it");
    if (axis != 0 || table.shape.size() != 2 || table.strides.back() != 1)
        throw InputError("not of the rows of a table");
    begin_step(node.name);
    const int64_t rows = element_count(*which.shape), columns = table.shape[1];
    const Place indices = place(index);
    if (!is_dense(indices)) throw InputError("indices that do not follow each other");
    Place to = dense_place(y);
    const auto size = tpu::size_of(table.type);
    const int64_t most = std::max<int64_t>(
        1, static_cast<int64_t>(window_room() / 8) / (columns * static_cast<int64_t>(size)));
    const Matrix list{indices.space, indices.address, indices.type, rows, 1, 1};
    const Matrix out{to.space, to.address, to.type, rows, columns, columns};
    for (int64_t row = 0; row < rows; row += most) {
        const int64_t count = std::min(most, rows - row);
        const Tile at = stage(list, row, count), tile = stage_result(out, row, count);
        emit(Opcode::kGather,
             {{Field::kMemory, table.address},
              {Field::kIndices, at.address},
              {Field::kDestination, tile.address},
              {Field::kRows, count},
              {Field::kRowBytes, static_cast<uint64_t>(columns) * size},
              {Field::kSourcePitch, static_cast<uint64_t>(table.strides[0]) * size},
              {Field::kDestinationPitch, tile.pitch}});
        unstage(tile, out, row, count);
    }
    set_place(y, std::move(to));
}

namespace {

/// Elements `to`, `to` + spread, ... of a result are elements `from`, `from` + step, ... of the
/// operand.
struct Run {
    int64_t from, step, to, spread, count;
};

/// The indices as few runs: those of an enlarged image repeat with a period.
std::vector<Run> runs_of(const std::vector<int64_t>& indices) {
    const auto count = static_cast<int64_t>(indices.size());
    const auto at = [&](int64_t i) { return indices[static_cast<size_t>(i)]; };
    for (int64_t period = 1; period <= std::min<int64_t>(8, count); ++period) {
        std::vector<Run> runs;
        for (int64_t first = 0; first < period; ++first) {
            const int64_t step = first + period < count ? at(first + period) - at(first) : 1;
            const int64_t length = (count - first + period - 1) / period;
            bool regular = step >= 0;
            for (int64_t i = 1; i < length && regular; ++i)
                regular = at(first + i * period) - at(first + (i - 1) * period) == step;
            if (regular) runs.push_back({at(first), step, first, period, length});
        }
        if (static_cast<int64_t>(runs.size()) == period) return runs;
    }
    std::vector<Run> runs;
    for (int64_t i = 0; i < count;) {
        int64_t end = i + 1;
        while (end < count && at(end) == at(end - 1) + 1) ++end;
        runs.push_back({at(i), 1, i, 1, end - i});
        i = end;
    }
    return runs;
}

}  // namespace

void Lowering::lower_constant_gather(const Node& node) {
    const ValueId y = node.outputs[0];
    const Place table = place(node.inputs[0]);
    const Value& which = value(node.inputs[1]);
    int64_t axis = node.integer("axis", 0);
    if (axis < 0) axis += static_cast<int64_t>(table.shape.size());
    const auto d = static_cast<size_t>(axis);
    LOCKSTEP_CHECK(table.image.empty(), "{} reads a flattened image", node.name);
    std::vector<int64_t> indices = to_integers(*which.data);
    for (int64_t& index : indices) {
        if (index < 0) index += table.shape[d];
        if (index < 0 || index >= table.shape[d])
            throw InputError(fmt::format("index {} of {}", index, table.shape[d]));
    }
    begin_step(node.name);
    // The indices as one dimension, taken apart again at the end.
    Shape along = table.shape;
    along[d] = static_cast<int64_t>(indices.size());
    Place to = new_place(y, {});
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
        copy(part, result);
    }
    const std::optional<Place> view = reshaped(to, shape(y));
    LOCKSTEP_CHECK(view.has_value(), "{}", node.name);
    set_place(y, *view);
}

void Lowering::lower_expand(const Node& node) {
    const ValueId y = node.outputs[0];
    const Place from = place(node.inputs[0]);
    LOCKSTEP_CHECK(from.image.empty(), "{} reads a flattened image", node.name);
    const Shape& out = shape(y);
    // As many dimensions as the result; those that repeat have the stride 0.
    Place aligned = from, spread = from;
    const size_t more = out.size() - from.shape.size();
    aligned.shape.insert(aligned.shape.begin(), more, 1);
    aligned.strides.insert(aligned.strides.begin(), more, 0);
    spread = aligned;
    for (size_t d = 0; d < out.size(); ++d)
        if (aligned.shape[d] != out[d]) spread.strides[d] = 0;
    spread.shape = out;
    begin_step(node.name);
    Place to = new_place(y, strides_like(aligned, out));
    copy(spread, to);
    set_place(y, std::move(to));
}

void Lowering::lower_pad(const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    if (node.text("mode", "constant") != "constant")
        throw InputError("a mode that is not constant");
    const auto pads = known_integers(*this, value(node.inputs.at(1)));
    float filler = 0;
    if (node.input(2) != kNoValue) filler = scalar_of(value(node.input(2))).value_or(1);
    if (filler != 0 && !tpu::is_float(type_of(y)))
        throw InputError("a filler of integers that is not 0");
    if (std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad < 0; }))
        throw InputError("padding below 0");
    begin_step(node.name);
    const Place from = place(x);
    const bool image = from.shape.size() == 4 && from.strides == image_strides(from.shape);
    // A buffer that holds the filler already; the values are put into its middle.
    Place to;
    to.space = backing();
    to.type = type_of(y);
    to.shape = shape(y);
    to.strides = image ? image_strides(to.shape) : strides_like(from, to.shape);
    const uint64_t bytes = to.bytes_of(element_count(to.shape));
    const uint32_t buffer =
        add_buffer(value(y).name, to.space, tpu::Role::kScratch, to.type, bytes);
    to.address = builder_.address(buffer);
    if (const int32_t zero = scaling_of(value(y)).zero; zero != 0)
        builder_.add_data(buffer, 0, std::vector<uint8_t>(bytes, static_cast<uint8_t>(zero)));
    if (filler != 0) {
        const Shape all = {element_count(to.shape)};
        const std::vector<float> fillers(static_cast<size_t>(all[0]), filler);
        std::vector<uint8_t> contents(bytes);
        write_port({kNoValue, 0, 0, to.type, all, {1}, {}},
                   make_tensor(all, std::span<const float>(fillers)), contents);
        builder_.add_data(buffer, 0, contents);
    }
    Place middle = to;
    middle.shape = from.shape;
    for (size_t d = 0; d < from.shape.size(); ++d)
        middle.address += middle.bytes_of(pads.at(d) * to.strides[d]);
    copy(from, middle);
    set_place(y, std::move(to));
}

namespace {

int64_t axis_of_concat(const Node& node, const Shape& shape) {
    const int64_t axis = node.integer("axis", 0);
    return axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis;
}

bool same_scale(const Value& a, const Value& b) {
    return a.quantisation.has_value() == b.quantisation.has_value() &&
           (!a.quantisation || (a.quantisation->scale == b.quantisation->scale &&
                                a.quantisation->zero_point == b.quantisation->zero_point));
}

}  // namespace

std::optional<Place> Lowering::part_of_concatenation(ValueId id) {
    const Node* node = has_memory() ? nullptr : only_reader(id);
    if (node == nullptr || node->op != Operator::kConcat) return std::nullopt;
    const ValueId y = node->outputs[0];
    const Shape& all = shape(y);
    if (all.size() != 4 || axis_of_concat(*node, all) != 1) return std::nullopt;
    for (const ValueId x : node->inputs)
        if (!same_scale(value(x), value(y)) || type_of(x) != type_of(y)) return std::nullopt;
    if (!joined_.contains(node)) joined_[node] = new_place(y, image_strides(all));
    Place part = joined_[node];
    if (part.space != tpu::Space::kUnifiedBuffer) return std::nullopt;
    for (const ValueId x : node->inputs) {
        if (x == id) break;
        part.address += part.bytes_of(shape(x)[1]);
    }
    part.shape = shape(id);
    return part;
}

Place Lowering::image_place(ValueId id) {
    if (std::optional<Place> part = part_of_concatenation(id)) return *part;
    return new_place(id, image_strides(shape(id)));
}

void Lowering::lower_concat(const Node& node) {
    const ValueId y = node.outputs[0];
    const Place& first = place(node.inputs[0]);
    const int64_t axis = axis_of_concat(node, first.shape);
    if (value(y).quantisation)
        for (const ValueId x : node.inputs)
            if (!same_scale(value(x), value(y))) throw InputError("parts of different scales");
    begin_step(node.name);
    const bool image = first.shape.size() == 4 && first.strides == image_strides(first.shape);
    const auto joined = joined_.find(&node);
    Place to = joined != joined_.end()
                   ? joined->second
                   : new_place(y, image ? image_strides(shape(y)) : dense_strides(shape(y)));
    if (joined != joined_.end()) joined_.erase(joined);
    int64_t at = 0;
    const auto d = static_cast<size_t>(axis);
    for (const ValueId x : node.inputs) {
        Place part = to;
        part.owner = nullptr;
        part.shape = shape(x);
        part.address += part.bytes_of(at * to.strides[d]);
        at += shape(x)[d];
        const Place& from = place(x);
        // It was made there.
        if (from.space == part.space && from.address == part.address) continue;
        copy(from, part);
    }
    set_place(y, std::move(to));
}

}  // namespace lockstep::network::lowering
