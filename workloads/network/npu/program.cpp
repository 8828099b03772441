// SPDX-License-Identifier: Apache-2.0
// A group has a part of the SRAM: what stays while it runs (weights that are loaded once, tables,
// parameters), and a ring through which stripes pass. Groups use the two ends of what is free in
// turn, so that the next one's first loads need not wait. In a cascade, the rows that the next
// stripe needs again are copied, not made again.
#include "workloads/network/npu/program.h"

#include <algorithm>

#include "isa/npu/weights.h"
#include "sim/error/error.h"
#include "sim/numerics/integer.h"
#include "workloads/network/compile/cost.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"

namespace lockstep::network::npu_code {

namespace {

using compile::aligned;
using isa::Instruction;
using isa::Opcode;
using enum isa::Field;

constexpr std::uint64_t kLongestRow = (1 << 24) - 1;  ///< bytes of a transfer's row

void append(std::vector<std::uint8_t>& bytes, std::int32_t value) {
    for (int byte = 0; byte < 4; ++byte)
        bytes.push_back(static_cast<std::uint8_t>(value >> (8 * byte)));
}

command::DataType buffer_type(ElementType type) {
    switch (type) {
        case ElementType::kInt8:
            return command::DataType::kInt8;
        case ElementType::kInt16:
            return command::DataType::kInt16;
        case ElementType::kInt32:
            return command::DataType::kInt32;
        case ElementType::kFp32:
            return command::DataType::kFp32;
        default:
            return command::DataType::kUint8;
    }
}

}  // namespace

struct ProgramMaker::Running {
    const Group& group;
    std::uint64_t pinned = 0;  ///< the next address of what stays
    compile::Ring ring;
    std::vector<std::optional<Weights>> weights;  ///< of steps, loaded once
    std::vector<std::uint64_t> weights_at, constants_at;
    std::vector<std::optional<Region>> operands;  ///< that are the same for all rows
    std::vector<std::optional<Region>> before;    ///< what a cascade's steps made last
    std::optional<Region> input;                  ///< that stays for all pieces
    std::optional<Weights> piece;                 ///< the weights of the piece
    std::uint64_t piece_at = 0;
    std::int64_t piece_index = -1;
    /// Of what stays while others pass by: the weights of a piece, or a stripe of the input. Two
    /// places in turn, where there is room.
    std::uint64_t slots = 0, slot_bytes = 0, slot_count = 1, slots_taken = 0;
    std::uint64_t next_slot() { return slots + slots_taken++ % slot_count * slot_bytes; }
    std::uint64_t raw_bytes = 0, stream_bytes = 0;
};

std::uint64_t ProgramMaker::add_bytes(const std::string& name, std::span<const std::uint8_t> bytes,
                                      bool known) {
    isa::Buffer buffer;
    buffer.name = name;
    buffer.space = isa::Space::kMemory;
    buffer.role = isa::Role::kConstant;
    buffer.bytes = bytes.size();
    const std::uint32_t index = builder_.add_buffer(std::move(buffer));
    if (known) builder_.add_data(index, 0, bytes);
    result_.weight_bytes += bytes.size();
    return builder_.address(index);
}

std::uint32_t ProgramMaker::add_constant(ValueId id, const Place& place) {
    const Value& value = graph_.value(id);
    std::vector<std::uint8_t> bytes(place.bytes, 0);
    if (value.is_known()) {
        const std::vector<std::int64_t> stored = to_integers(*value.data);
        Shape shape = *value.shape;
        // Images lie as [h][w][c].
        const std::int64_t c = shape.size() == 4 ? shape[1] : 1,
                           area = shape.size() == 4 ? shape[2] * shape[3] : 0;
        const bool image = c > 1 && area > 1;
        for (std::size_t i = 0; i < stored.size(); ++i) {
            const auto n = static_cast<std::int64_t>(i);
            const std::int64_t at =
                image ? n / (c * area) * c * area + n % area * c + n / area % c : n;
            bytes.at(static_cast<std::size_t>(at)) = static_cast<std::uint8_t>(stored[i]);
        }
    }
    isa::Buffer buffer;
    buffer.name = value.name;
    buffer.space = isa::Space::kMemory;
    buffer.role = isa::Role::kConstant;
    buffer.bytes = bytes.size();
    const std::uint32_t index = builder_.add_buffer(std::move(buffer));
    if (value.is_known()) builder_.add_data(index, 0, bytes);
    result_.weight_bytes += bytes.size();
    return index;
}

std::uint32_t ProgramMaker::add_buffer(ValueId id, const Place& place) {
    const Value& value = graph_.value(id);
    const auto is_in = [&](const std::vector<ValueId>& list) {
        return std::find(list.begin(), list.end(), id) != list.end();
    };
    isa::Buffer buffer;
    buffer.name = value.name;
    buffer.space = place.home == Home::kHost ? isa::Space::kHost : isa::Space::kMemory;
    buffer.role = is_in(graph_.inputs)    ? isa::Role::kInput
                  : is_in(graph_.outputs) ? isa::Role::kOutput
                                          : isa::Role::kScratch;
    buffer.type = buffer_type(value.type);
    for (const std::int64_t extent : *value.shape)
        buffer.shape.push_back(static_cast<std::uint64_t>(extent));
    buffer.bytes = place.bytes;
    return builder_.add_buffer(std::move(buffer));
}

void ProgramMaker::place_buffers() {
    for (const auto& [id, place] : plan_.places)
        if (place.home != Home::kSram)
            buffers_[id] =
                is_given(graph_.value(id)) ? add_constant(id, place) : add_buffer(id, place);
}

ValueId ProgramMaker::root_of(ValueId id) {
    const Value& value = graph_.value(id);
    const bool stored = value.quantisation && value.type == ElementType::kInt8;
    return stored ? values_.own(id).value : id;
}

/// Of an input or output of the network, or what the host reads or writes.
compile::Port ProgramMaker::port_of(ValueId id) {
    const Value& value = graph_.value(id);
    const bool stored = value.quantisation && value.type == ElementType::kInt8;
    const ValueId root = root_of(id);
    if (!buffers_.contains(root)) {
        Place place{Home::kHost, 0, 0, 0, 0};
        place.bytes = static_cast<std::uint64_t>(element_count(*value.shape)) * size_of(value.type);
        buffers_[root] = add_buffer(root, place);
    }
    compile::View view{*value.shape, compile::dense_strides(*value.shape), {}};
    std::uint64_t offset = 0;
    if (stored) {
        view = values_.view_of(id);
        offset = static_cast<std::uint64_t>(values_.offset_of(id)) * size_of(value.type);
    }
    return {id, buffers_.at(root), offset, value.type, view};
}

void ProgramMaker::run_host(const Group& group) {
    const Step& step = steps_[group.first];
    const std::string& first = graph_.nodes[step.nodes.front()].name;
    const std::string name =
        step.nodes.size() == 1
            ? "host:" + first
            : fmt::format("host:{}..{}", first, graph_.nodes[step.nodes.back()].name);
    NpuLayer layer;
    layer.name = name;
    layer.step = builder_.begin_step(name);
    compile::HostTask task{step.nodes, {}, {}};
    command::HostTask work{name, 0, 0};
    std::vector<bool> made(graph_.values.size(), false), has(graph_.values.size(), false);
    for (const std::size_t n : step.nodes) {
        const Node& node = graph_.nodes[n];
        for (const ValueId id : node.inputs) {
            if (id == kNoValue || made[id] || has[id] || is_given(graph_.value(id))) continue;
            has[id] = true;
            const bool input =
                std::find(graph_.inputs.begin(), graph_.inputs.end(), id) != graph_.inputs.end();
            if (input || plan_.places.contains(root_of(id))) task.reads.push_back(port_of(id));
        }
        for (const ValueId id : node.outputs)
            if (id != kNoValue) made[id] = true;
        const compile::NodeCost cost = compile::cost_of(graph_, node);
        work.operations += cost.operations;
        work.bytes += cost.bytes;
    }
    for (ValueId id = 0; id < made.size(); ++id) {
        const bool output =
            std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
        if (made[id] && (output || plan_.places.contains(root_of(id))))
            task.writes.push_back(port_of(id));
    }
    layer.note = fmt::format("{} nodes on the host, {:.3g} MFLOP, {:.3g} MB", step.nodes.size(),
                             static_cast<double>(work.operations) * 1e-6,
                             static_cast<double>(work.bytes) * 1e-6);
    builder_.call_host(builder_.add_host_task(std::move(work)));
    result_.host_tasks.push_back(std::move(task));
    result_.layers.push_back(std::move(layer));
}

/// Streams and parameters of these output channels: in as many parts as there are groups of a
/// convolution, or cores that share the channels.
ProgramMaker::Weights ProgramMaker::make_weights(const Step& step, std::int64_t first,
                                                 std::int64_t channels, bool by_core) {
    Weights result;
    const std::int64_t outputs = step.output_channels();
    const auto each = static_cast<std::int64_t>(step.weight_count) / outputs;
    const std::int64_t taps = step.window.height * step.window.width;
    std::int64_t size = step.groups > 1 ? outputs / step.groups : channels;
    // The channels that one input channel gives stay together.
    const bool multiplies = step.opcode == Opcode::kDepthwise && outputs != step.input.box.c;
    if (by_core && step.groups == 1 && !multiplies) {
        const std::int64_t unit = target_.array_outputs;
        size =
            numerics::divide_up(numerics::divide_up(channels, unit), std::int64_t{target_.cores}) *
            unit;
    }
    std::vector<std::uint8_t> bytes;
    for (std::int64_t k = first; k < first + channels; k += size) {
        WeightPart part{
            k, std::min(size, first + channels - k), bytes.size(), 0, 0, isa::WeightFormat::kRaw};
        const auto count = static_cast<std::uint64_t>(part.count * each);
        result.raw_bytes += isa::packed_bytes(count, step.weight_type);
        if (step.weights.empty()) {
            part.stream_bytes =
                stored_stream(step, target_, isa::packed_bytes(count, step.weight_type));
            bytes.resize(bytes.size() + part.stream_bytes, 0);
        } else {
            const std::span<const std::int16_t> values(step.weights.data() + k * each,
                                                       static_cast<std::size_t>(count));
            const std::vector<std::int16_t> ordered = isa::order_weights(
                values, static_cast<std::uint64_t>(part.count), static_cast<std::uint64_t>(taps),
                static_cast<std::uint64_t>(each / taps), target_.array_outputs);
            std::vector<std::uint8_t> stream;
            if (target_.compresses_weights)
                std::tie(part.format, stream) = isa::compress_weights(ordered, step.weight_type);
            else
                stream = *isa::encode_weights(ordered, step.weight_type, isa::WeightFormat::kRaw);
            stream.resize(stored_stream(step, target_, stream.size()), 0);
            part.stream_bytes = stream.size();
            bytes.insert(bytes.end(), stream.begin(), stream.end());
        }
        bytes.resize(numerics::round_up(bytes.size(), std::size_t{16}), 0);
        part.parameters = bytes.size();
        const auto begin = static_cast<std::size_t>(k),
                   end = begin + static_cast<std::size_t>(part.count);
        for (std::size_t c = begin; c < end && !step.bias.empty(); ++c) append(bytes, step.bias[c]);
        if (step.scales.size() > 1) {
            for (std::size_t c = begin; c < end; ++c) append(bytes, step.scales[c].multiplier);
            for (std::size_t c = begin; c < end; ++c)
                bytes.push_back(static_cast<std::uint8_t>(step.scales[c].shift));
        }
        bytes.resize(numerics::round_up(bytes.size(), std::size_t{16}), 0);
        result.parts.push_back(part);
    }
    result.bytes = bytes.size();
    result.address = add_bytes(step.name + ".weights", bytes, !step.weights.empty());
    return result;
}

/// Bytes from memory to the SRAM, beside what is loaded of images.
std::uint64_t ProgramMaker::load(std::uint64_t memory, std::uint64_t bytes, std::uint64_t to) {
    for (std::uint64_t done = 0; done < bytes;) {
        const std::uint64_t some = std::min(bytes - done, kLongestRow / 256 * 256);
        builder_.emit(Opcode::kLoadWeights, {{kMemory, memory + done},
                                             {kDestination, to + done},
                                             {kRowBytes, some},
                                             {kRows, 1},
                                             {kPlanes, 1}});
        done += some;
    }
    return to;
}

void ProgramMaker::load_constants(Running& run) {
    const Group& group = run.group;
    const auto pin = [&](std::uint64_t bytes) {
        const std::uint64_t at = run.pinned;
        run.pinned += aligned(bytes);
        return at;
    };
    for (std::size_t s = group.first; s <= group.last; ++s) {
        const Step& step = steps_[s];
        std::uint64_t constants = 0;
        if (step.constant_bytes() != 0) {
            std::vector<std::uint8_t> bytes = step.table;
            bytes.insert(bytes.end(), step.parameters.begin(), step.parameters.end());
            constants =
                load(add_bytes(step.name + ".table", bytes, true), bytes.size(), pin(bytes.size()));
        }
        run.constants_at.push_back(constants);
        const bool whole = s != group.last || group.cut.channels == step.output_channels();
        run.weights.emplace_back();
        run.weights_at.push_back(0);
        if (step.is_product() && whole) {
            const bool by_core = target_.cores > 1 && step.output.box.h < 2 * target_.cores;
            run.weights.back() = make_weights(step, 0, step.output_channels(), by_core);
            const Weights& weights = *run.weights.back();
            run.raw_bytes += weights.raw_bytes;
            for (const WeightPart& part : weights.parts) run.stream_bytes += part.stream_bytes;
            run.weights_at.back() = load(weights.address, weights.bytes, pin(weights.bytes));
        }
        run.operands.emplace_back();
        const bool same =
            step.broadcast == isa::Broadcast::kChannel || step.broadcast == isa::Broadcast::kScalar;
        if (step.operand.value != kNoValue && same) {
            const Place& place = plan_.places.at(step.operand.value);
            if (place.home == Home::kSram) {
                run.operands.back() = region_of(step.operand, 0, place.address);
                continue;
            }
            Region region{pin(step.operand.box.bytes()),
                          {0, 1},
                          step.operand.box.row(),
                          step.operand.box.pixel()};
            builder_.emit(transfer_of(step.operand, 0, region, Direction::kLoad,
                                      place.home == Home::kHost,
                                      builder_.address(buffers_.at(step.operand.value))));
            run.operands.back() = region;
        }
    }
}

/// Rows of a part: where they are, or where they are brought to.
Region ProgramMaker::bring(Running& run, const Part& part, std::int64_t image, Rows rows,
                           bool in_slot) {
    const Place& place = plan_.places.at(part.value);
    if (part.box.n == 1) image = 0;
    if (place.home == Home::kSram) return region_of(part, image, place.address);
    Region region{0, rows, part.box.row(), part.box.pixel()};
    region.address = in_slot
                         ? run.next_slot()
                         : run.ring.allocate(static_cast<std::uint64_t>(rows.count()) * region.row);
    builder_.emit(transfer_of(part, image, region, Direction::kLoad, place.home == Home::kHost,
                              builder_.address(buffers_.at(part.value))));
    return region;
}

/// One command for each part of the weights and each core.
void ProgramMaker::run_commands(Running& run, std::size_t s, Rows rows, Region input,
                                Region operand, Region output, const Weights* weights,
                                std::uint64_t at, std::int64_t first_channel,
                                std::int64_t channels) {
    const Step& step = steps_[s];
    const bool channel_cores = weights != nullptr && weights->parts.size() > 1 && step.groups == 1;
    const std::int64_t shares =
        channel_cores || step.needs_all_rows()
            ? 1
            : std::clamp<std::int64_t>(rows.count(), 1, std::int64_t{target_.cores});
    const std::size_t parts = weights == nullptr ? 1 : weights->parts.size();
    for (std::size_t p = 0; p < parts; ++p)
        for (std::int64_t share = 0; share < shares; ++share) {
            Work work;
            work.rows = {rows.begin + rows.count() * share / shares,
                         rows.begin + rows.count() * (share + 1) / shares};
            work.first_channel = weights == nullptr ? first_channel : weights->parts[p].first;
            work.channels = weights == nullptr ? channels : weights->parts[p].count;
            work.core = static_cast<std::uint32_t>(channel_cores ? p % target_.cores
                                                                 : static_cast<std::size_t>(share));
            work.input = input;
            work.output = output;
            work.output.address +=
                step.output.box.channel_bytes(work.first_channel - first_channel);
            work.operand = operand;
            if (step.broadcast == isa::Broadcast::kNone ||
                step.broadcast == isa::Broadcast::kChannel)
                work.operand.address +=
                    step.operand.box.channel_bytes(work.first_channel - first_channel);
            work.constants = run.constants_at[s - run.group.first];
            work.weights = at;
            work.part = weights == nullptr ? nullptr : &weights->parts[p];
            builder_.emit(command_of(step, work, target_));
        }
}

void ProgramMaker::run_stripe(Running& run, std::int64_t image, Rows rows, std::int64_t piece) {
    const Group& group = run.group;
    const std::vector<Rows> made = rows_of_steps(steps_, group, rows);
    Region carried;  // what the step before made
    for (std::size_t s = group.first; s <= group.last; ++s) {
        const Step& step = steps_[s];
        const bool last = s == group.last;
        const std::size_t at = s - group.first;
        Rows wanted = made[at];
        const std::int64_t channels =
            last ? std::min(group.cut.channels, step.output_channels() - piece * group.cut.channels)
                 : step.output_channels();
        const std::int64_t first_channel = last ? piece * group.cut.channels : 0;
        const Part out = channels_of(step.output, first_channel, channels);
        const Place& place = plan_.places.at(step.output.value);
        Region output;
        if (last && place.home == Home::kSram) {
            output = region_of(out, image, place.address);
        } else {
            output = {0, wanted, out.box.row(), out.box.pixel()};
            output.address =
                run.ring.allocate(static_cast<std::uint64_t>(wanted.count()) * output.row);
        }
        Rows todo = wanted;
        if (!last && run.before[at] && run.before[at]->rows.end > wanted.begin) {
            // Rows that the stripe before made already.
            const Region& old = *run.before[at];
            const Rows again{wanted.begin, std::min(old.rows.end, wanted.end)};
            if (again.begin >= old.rows.begin) {
                builder_.emit(Opcode::kCopy,
                              {{kSource, old.at(again.begin)},
                               {kDestination, output.at(again.begin)},
                               {kRowBytes, static_cast<std::uint64_t>(again.count()) * old.row},
                               {kRows, 1},
                               {kPlanes, 1},
                               {kDestinationPitch, 1},
                               {kDestinationPlane, 1}});
                todo.begin = again.end;
            }
        }
        if (!last) run.before[at] = output;
        if (todo.count() > 0) {
            Region input = carried;
            if (s == group.first && step.input.value != kNoValue) {
                if (run.input && run.input->rows == step.input_rows(todo))
                    input = *run.input;
                else
                    run.input = input = bring(run, step.input, image, step.input_rows(todo),
                                              run.slot_bytes != 0 && !group.cut.weights_outer);
            }
            Region operand;
            if (run.operands[at])
                operand = *run.operands[at];
            else if (step.operand.value != kNoValue)
                operand = bring(run,
                                step.broadcast == isa::Broadcast::kNone
                                    ? channels_of(step.operand, first_channel, channels)
                                    : step.operand,
                                image, step.window_rows(todo));
            const Weights* weights = nullptr;
            std::uint64_t weights_at = run.weights_at[at];
            if (run.weights[at]) {
                weights = &*run.weights[at];
            } else if (step.is_product()) {
                weights = &*run.piece;
                weights_at = run.piece_at;
            }
            run_commands(run, s, todo, input, operand, output, weights, weights_at, first_channel,
                         channels);
        }
        if (last && place.home != Home::kSram)
            builder_.emit(transfer_of(out, image, output, Direction::kStore,
                                      place.home == Home::kHost,
                                      builder_.address(buffers_.at(step.output.value))));
        carried = output;
    }
}

/// Where weights are cut: room for what passes by less often.
void ProgramMaker::take_slots(Running& run, std::int64_t stripes, std::int64_t pieces) {
    const Cut& cut = run.group.cut;
    const Step& step = steps_[run.group.first];
    if (pieces == 1) return;
    if (cut.weights_outer) {
        run.slot_bytes = aligned(weight_bytes(step, target_, cut.channels));
    } else if (step.input.value != kNoValue &&
               plan_.places.at(step.input.value).home != Home::kSram) {
        std::int64_t most = 0;
        for (std::int64_t s = 0; s < stripes; ++s)
            most = std::max(most, step.input_rows({s * cut.rows,
                                                   std::min(step.output.box.h, (s + 1) * cut.rows)})
                                      .count());
        run.slot_bytes = aligned(static_cast<std::uint64_t>(most) * step.input.box.row());
    }
    run.slot_count = cut.overlaps ? 2 : 1;
    run.slots = run.pinned;
    run.pinned += run.slot_count * run.slot_bytes;
}

void ProgramMaker::run_group(const Group& group) {
    const Step& end = steps_[group.last];
    std::string name;
    std::int64_t macs = 0;
    for (std::size_t s = group.first; s <= group.last; ++s) {
        name += (name.empty() ? "" : "|") + steps_[s].name;
        macs += steps_[s].macs;
    }
    const std::uint32_t number = builder_.begin_step(name, static_cast<std::uint64_t>(macs));
    const std::uint64_t need = std::min(group.scratch_bytes, aligned(group.need_bytes));
    const bool high = groups_done_++ % 2 != 0;
    const std::uint64_t begin =
        high ? (group.scratch + group.scratch_bytes - need) / 256 * 256 : group.scratch;
    Running run{group, begin, compile::Ring("SRAM", 0, 0), {}, {}, {}, {}, {}, {}, {}, 0, -1, 0, 0};
    load_constants(run);
    run.before.resize(group.last - group.first + 1);
    const std::int64_t rows = end.output.box.h;
    const std::int64_t stripes = numerics::divide_up(rows, group.cut.rows);
    const std::int64_t pieces = numerics::divide_up(end.output_channels(), group.cut.channels);
    take_slots(run, stripes, pieces);
    run.ring = compile::Ring("SRAM", run.pinned, begin + need - run.pinned);
    std::vector<std::optional<Weights>> piece_weights(static_cast<std::size_t>(pieces));
    const auto take_piece = [&](std::int64_t piece) {
        if (pieces == 1 || !end.is_product() || run.piece_index == piece) return;
        std::optional<Weights>& weights = piece_weights[static_cast<std::size_t>(piece)];
        if (!weights) {
            const std::int64_t first = piece * group.cut.channels;
            const std::int64_t channels =
                std::min(group.cut.channels, end.output_channels() - first);
            const bool by_core = target_.cores > 1 && end.output.box.h < 2 * target_.cores;
            weights = make_weights(end, first, channels, by_core);
            run.raw_bytes += weights->raw_bytes;
            for (const WeightPart& part : weights->parts) run.stream_bytes += part.stream_bytes;
        }
        run.piece = *weights;
        run.piece_index = piece;
        run.piece_at =
            load(weights->address, weights->bytes,
                 group.cut.weights_outer ? run.next_slot() : run.ring.allocate(weights->bytes));
    };
    const auto stripe = [&](std::int64_t image, std::int64_t s, std::int64_t piece) {
        run_stripe(run, image, {s * group.cut.rows, std::min(rows, (s + 1) * group.cut.rows)},
                   piece);
    };
    // Where there is room for one of each buffer, they lie at the same places each time.
    const auto begin_again = [&] {
        if (!group.cut.overlaps && !group.is_cascade())
            run.ring = compile::Ring("SRAM", run.pinned, begin + need - run.pinned);
    };
    const std::int64_t images = end.output.box.n;
    if (group.cut.weights_outer) {
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            take_piece(piece);
            for (std::int64_t image = 0; image < images; ++image)
                for (std::int64_t s = 0; s < stripes; ++s) {
                    run.input.reset();
                    begin_again();
                    stripe(image, s, piece);
                }
        }
    } else {
        for (std::int64_t image = 0; image < images; ++image) {
            std::fill(run.before.begin(), run.before.end(), std::nullopt);
            for (std::int64_t s = 0; s < stripes; ++s) {
                run.input.reset();
                for (std::int64_t piece = 0; piece < pieces; ++piece) {
                    begin_again();
                    take_piece(piece);
                    stripe(image, s, piece);
                }
            }
        }
    }
    NpuLayer layer;
    layer.name = name;
    layer.step = number;
    layer.macs = macs;
    layer.stripes = stripes * images;
    layer.pieces = pieces;
    layer.weights_outer = group.cut.weights_outer;
    layer.estimate = group.cycles;
    layer.core_estimate = group.core_cycles;
    layer.weight_bytes = run.raw_bytes;
    layer.stream_bytes = run.stream_bytes;
    describe(group, layer);
    result_.layers.push_back(std::move(layer));
}

void ProgramMaker::describe(const Group& group, NpuLayer& layer) const {
    const Step &head = steps_[group.first], &end = steps_[group.last];
    const auto text = [](const Layout& l) { return fmt::format("{}x{}x{}", l.h, l.w, l.c); };
    if (head.input.value != kNoValue) layer.shape = text(head.input.box) + " -> ";
    layer.shape += text(end.output.box);
    const auto kept = [&](const Part& part, const char* letter) {
        if (part.value != kNoValue && plan_.places.at(part.value).home == Home::kSram)
            layer.kept += letter;
    };
    kept(head.input, "i");
    for (std::size_t s = group.first; s <= group.last; ++s) kept(steps_[s].operand, "+");
    kept(end.output, "o");
    double macs = 0, lanes = 0, outputs = 0;
    for (std::size_t s = group.first; s <= group.last; ++s) {
        const Step& step = steps_[s];
        if (!step.is_product()) continue;
        layer.weight_bits = static_cast<int>(isa::bits_of(step.weight_type));
        layer.input_bits = static_cast<int>(isa::bits_of(step.input.box.type));
        const bool depthwise = step.opcode == Opcode::kDepthwise;
        const std::int64_t depth =
            depthwise ? step.window.height * step.window.width : step.input.box.c / step.groups;
        const std::int64_t inputs = depthwise ? target_.depthwise_taps : target_.array_inputs;
        const std::int64_t k = step.output_channels() / step.groups;
        const auto use = [](std::int64_t n, std::int64_t unit) {
            return static_cast<double>(n) / static_cast<double>(numerics::round_up(n, unit));
        };
        const auto weight = static_cast<double>(step.macs);
        macs += weight;
        lanes += weight * use(depth, inputs) *
                 (depthwise ? static_cast<double>(inputs) / target_.array_inputs : 1);
        outputs += weight * use(k, target_.array_outputs);
    }
    if (macs == 0) return;
    layer.lane_use = lanes / macs;
    layer.output_use = outputs / macs;
}

NpuCompiled ProgramMaker::make() {
    place_buffers();
    for (const ValueId id : graph_.inputs) result_.inputs.push_back(port_of(id));
    for (const Group& group : plan_.groups)
        steps_[group.first].on_host ? run_host(group) : run_group(group);
    for (const ValueId id : graph_.outputs) result_.outputs.push_back(port_of(id));
    result_.program = builder_.finish();
    return std::move(result_);
}

}  // namespace lockstep::network::npu_code
