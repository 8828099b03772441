// SPDX-License-Identifier: Apache-2.0
// A group has a part of the SRAM: what stays while it runs (weights that are loaded once, tables,
// parameters), and a ring through which stripes pass. Groups use the two ends of what is free in
// turn, so that the next one's first loads need not wait. In a cascade, the rows that the next
// stripe needs again are copied, not made again.
#include "workloads/network/npu/program.h"

#include <algorithm>
#include <map>

#include "sim/error/error.h"
#include "sim/numerics/integer.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/npu/describe.h"
#include "workloads/network/npu/host_step.h"
#include "workloads/network/npu/weight_streams.h"

namespace lockstep::network::npu_code {

namespace {

using compile::aligned;
using isa::Instruction;
using isa::Opcode;
using enum isa::Field;

constexpr std::uint64_t kLongestRow = (1 << 24) - 1;  ///< bytes of a transfer's row

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
    compile::Ring whole_ring = compile::Ring("SRAM", 0, 0);
    /// Of steps that are cut over their input channels: by piece and first input.
    std::map<std::pair<std::int64_t, std::int64_t>, std::optional<Weights>> slices;
    std::uint64_t next_slot() { return slots + slots_taken++ % slot_count * slot_bytes; }
    std::uint64_t raw_bytes = 0, stream_bytes = 0;
};

ProgramMaker::Weights ProgramMaker::make_weights(const Step& step, std::int64_t first,
                                                 std::int64_t channels, InputSlice slice) {
    const bool by_core = target_.cores > 1 && step.output.box.h < 2 * target_.cores;
    WeightStreams streams = weight_streams(step, target_, first, channels, by_core, slice);
    Weights result{.bytes = streams.bytes.size(),
                   .raw_bytes = streams.raw_bytes,
                   .parts = std::move(streams.parts)};
    result.address =
        buffers_.add_constant(step.name + ".weights", streams.bytes, !step.weights.empty());
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
            constants = load(buffers_.add_constant(step.name + ".table", bytes, true), bytes.size(),
                             pin(bytes.size()));
        }
        run.constants_at.push_back(constants);
        const bool whole = group.cut.inputs == 0 &&
                           (s != group.last || group.cut.channels == step.output_channels());
        run.weights.emplace_back();
        run.weights_at.push_back(0);
        if (step.is_product() && whole) {
            run.weights.back() = make_weights(step, 0, step.output_channels());
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
                                      buffers_.address(step.operand.value)));
            run.operands.back() = region;
        }
    }
}

/// Rows of a part: where they are, or where they are brought to (`at`, or the ring).
Region ProgramMaker::bring(Running& run, const Part& part, std::int64_t image, Rows rows,
                           std::optional<std::uint64_t> at) {
    const Place& place = plan_.places.at(part.value);
    if (part.box.n == 1) image = 0;
    if (place.home == Home::kSram) return region_of(part, image, place.address);
    Region region{0, rows, part.box.row(), part.box.pixel()};
    region.address =
        at ? *at : run.ring.allocate(static_cast<std::uint64_t>(rows.count()) * region.row);
    builder_.emit(transfer_of(part, image, region, Direction::kLoad, place.home == Home::kHost,
                              buffers_.address(part.value)));
    return region;
}

/// One command for each part of the weights and each core.
void ProgramMaker::run_commands(Running& run, std::size_t s, Rows rows, Region input,
                                Region operand, Region output, const Weights* weights,
                                std::uint64_t at, std::int64_t first_channel, std::int64_t channels,
                                InputSlice slice) {
    const Step& step = steps_[s];
    const bool channel_cores = weights != nullptr && weights->parts.size() > 1 && step.groups == 1;
    const std::int64_t shares =
        channel_cores ? 1 : std::clamp<std::int64_t>(rows.count(), 1, std::int64_t{target_.cores});
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
            if (slice.count != 0) {
                work.inputs = slice.count;
                work.goes_on = slice.first != 0;
                work.keeps = slice.first + slice.count != step.input.box.c;
            }
            builder_.emit(command_of(step, work, target_));
        }
}

/// Rows of some output channels from some input channels after the others: the cores keep the sums.
void ProgramMaker::run_slices(Running& run, std::int64_t image, Rows rows, std::int64_t piece) {
    const Cut& cut = run.group.cut;
    const Step& step = steps_[run.group.last];
    const std::int64_t first_channel = piece * cut.channels;
    const std::int64_t channels = std::min(cut.channels, step.output_channels() - first_channel);
    const Part out = channels_of(step.output, first_channel, channels);
    const Place& place = plan_.places.at(step.output.value);
    // What lives until the last command has a slot; inputs and weights pass by in the ring.
    const std::uint64_t slot = run.next_slot();
    Region output{slot, rows, out.box.row(), out.box.pixel()};
    if (place.home == Home::kSram) output = region_of(out, image, place.address);
    Region operand;
    if (run.operands[0]) {
        operand = *run.operands[0];
    } else if (step.operand.value != kNoValue) {
        const Part part = step.broadcast == isa::Broadcast::kNone
                              ? channels_of(step.operand, first_channel, channels)
                              : step.operand;
        const std::uint64_t bytes = static_cast<std::uint64_t>(rows.count()) * out.box.row();
        operand = bring(run, part, image, step.operand_rows(rows), slot + aligned(bytes));
    }
    const std::int64_t depth = step.input.box.c;
    for (std::int64_t first = 0; first < depth; first += cut.inputs) {
        if (!cut.overlaps) run.ring = run.whole_ring;
        const InputSlice slice{first, std::min(cut.inputs, depth - first)};
        const Region input =
            bring(run, channels_of(step.input, first, slice.count), image, step.input_rows(rows));
        std::optional<Weights>& weights = run.slices[{piece, first}];
        if (!weights) {
            weights = make_weights(step, first_channel, channels, slice);
            run.raw_bytes += weights->raw_bytes;
            for (const WeightPart& part : weights->parts) run.stream_bytes += part.stream_bytes;
        }
        const std::uint64_t at =
            load(weights->address, weights->bytes, run.ring.allocate(weights->bytes));
        run_commands(run, run.group.last, rows, input, operand, output, &*weights, at,
                     first_channel, channels, slice);
    }
    if (place.home != Home::kSram)
        builder_.emit(transfer_of(out, image, output, Direction::kStore, place.home == Home::kHost,
                                  buffers_.address(step.output.value)));
}

void ProgramMaker::run_stripe(Running& run, std::int64_t image, Rows rows, std::int64_t piece) {
    const Group& group = run.group;
    if (group.cut.inputs != 0) return run_slices(run, image, rows, piece);
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
                    run.input = input =
                        bring(run, step.input, image, step.input_rows(todo), input_slot(run, step));
            }
            Region operand;
            if (run.operands[at])
                operand = *run.operands[at];
            else if (step.operand.value != kNoValue)
                operand = bring(run,
                                step.broadcast == isa::Broadcast::kNone && !step.is_matrix_product()
                                    ? channels_of(step.operand, first_channel, channels)
                                    : step.operand,
                                image, step.operand_rows(todo));
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
                                      buffers_.address(step.output.value)));
        carried = output;
    }
}

/// A slot for the input of a stripe that stays for all pieces of the weights.
std::optional<std::uint64_t> ProgramMaker::input_slot(Running& run, const Step& step) const {
    const bool stays = run.slot_bytes != 0 && !run.group.cut.weights_outer &&
                       plan_.places.at(step.input.value).home != Home::kSram;
    if (!stays) return std::nullopt;
    return run.next_slot();
}

/// Where weights are cut: room for what passes by less often.
void ProgramMaker::take_slots(Running& run, std::int64_t stripes, std::int64_t pieces) {
    const Cut& cut = run.group.cut;
    const Step& step = steps_[run.group.first];
    if (pieces == 1 && cut.inputs == 0) return;
    if (cut.inputs != 0) {
        run.slot_bytes = held_bytes(step, cut);
    } else if (cut.weights_outer) {
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
    run.ring = run.whole_ring = compile::Ring("SRAM", run.pinned, begin + need - run.pinned);
    std::vector<std::optional<Weights>> piece_weights(static_cast<std::size_t>(pieces));
    const auto take_piece = [&](std::int64_t piece) {
        if (pieces == 1 || !end.is_product() || run.piece_index == piece || group.cut.inputs != 0)
            return;
        std::optional<Weights>& weights = piece_weights[static_cast<std::size_t>(piece)];
        if (!weights) {
            const std::int64_t first = piece * group.cut.channels;
            const std::int64_t channels =
                std::min(group.cut.channels, end.output_channels() - first);
            weights = make_weights(end, first, channels);
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
        if (!group.cut.overlaps && !group.is_cascade()) run.ring = run.whole_ring;
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
    layer.slices =
        group.cut.inputs == 0 ? 1 : numerics::divide_up(end.input.box.c, group.cut.inputs);
    layer.weights_outer = group.cut.weights_outer;
    layer.estimate = group.cycles;
    layer.core_estimate = group.core_cycles;
    layer.weight_bytes = run.raw_bytes;
    layer.stream_bytes = run.stream_bytes;
    describe(steps_, plan_, target_, group, layer);
    result_.layers.push_back(std::move(layer));
}

NpuCompiled ProgramMaker::make() {
    buffers_.place();
    for (const ValueId id : graph_.inputs) result_.inputs.push_back(buffers_.port_of(id));
    for (const Group& group : plan_.groups)
        if (const Step& step = steps_[group.first]; step.on_host)
            add_host_step(graph_, plan_, step, buffers_, builder_, result_);
        else
            run_group(group);
    for (const ValueId id : graph_.outputs) result_.outputs.push_back(buffers_.port_of(id));
    result_.weight_bytes = buffers_.constant_bytes();
    result_.program = builder_.finish();
    return std::move(result_);
}

}  // namespace lockstep::network::npu_code
