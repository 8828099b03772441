// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/emit.h"

#include "workloads/network/compile/refusal.h"
#include "workloads/network/reference/tflite.h"

namespace lockstep::network::npu_code {

namespace {

using enum isa::Field;
using isa::Instruction;
using isa::Opcode;

constexpr std::int64_t kMaximumExtent = 65535;
constexpr std::uint64_t kLongestRow = (1 << 24) - 1;  ///< bytes of a transfer's row

isa::Rounding rounding(const NpuTarget& target) {
    return static_cast<isa::Rounding>(rounding_of(target.requantisation));
}

/// Sets fields of an instruction.
struct Put {
    Instruction& i;
    void operator()(isa::Field field, command::FieldValue value) const { i.set(field, value); }
};

void put_combination(const Put& put, const Step& step, const Work& work) {
    put(kCombine, step.combine);
    put(kResultMultiplier, step.result.multiplier);
    put(kResultShift, step.result.shift);
    if (step.combine == isa::Combine::kNone) return;
    put(kForm, isa::Form::kRescaled);
    put(kOperandType, step.operand.box.type);
    put(kOperandZero, step.operand_zero);
    put(kBroadcast, step.broadcast);
    const bool one_pixel =
        step.broadcast == isa::Broadcast::kChannel || step.broadcast == isa::Broadcast::kScalar;
    put(kOperand,
        one_pixel ? work.operand.address : work.operand.at(step.window_rows(work.rows).begin));
    put(kOperandRow, work.operand.row);
    put(kOperandPixel, work.operand.pixel);
    put(kFirst, step.addition.first.multiplier);
    put(kFirstShift, step.addition.first.shift);
    put(kSecond, step.addition.second.multiplier);
    put(kSecondShift, step.addition.second.shift);
    put(kLeftShift, numerics::AdditionScales::kBits);
}

void put_result(const Put& put, const Step& step, const Work& work) {
    if (work.keeps) {
        put(kKeep, 1);
    } else if (step.opcode != Opcode::kSoftmax && step.opcode != Opcode::kResize) {
        put(kTableAt, step.table_at);
        put(kTable, step.table_at == isa::TableAt::kNone ? 0 : work.constants);
        put(kLow, step.low);
        put(kHigh, step.high);
    }
    put(kOutput, work.output.at(work.rows.begin));
    put(kOutputType, step.output.box.type);
    put(kOutputZero, step.output_zero);
    put(kOutputRow, work.output.row);
    put(kOutputPixel, work.output.pixel);
}

/// Channels that the command reads: of a depthwise convolution, or element by element, those that
/// it makes.
Rows input_channels(const Step& step, const Work& work) {
    if (step.is_matrix_product()) return {0, step.input.box.c};
    if (step.opcode == Opcode::kConvolve) {
        const std::int64_t depth = step.input.box.c / step.groups;
        const std::int64_t group = work.first_channel / (step.output_channels() / step.groups);
        return {group * depth, (group + 1) * depth};
    }
    const std::int64_t times =
        step.opcode == Opcode::kDepthwise ? step.output_channels() / step.input.box.c : 1;
    return {work.first_channel / times, (work.first_channel + work.channels) / times};
}

void put_input(const Put& put, const Step& step, const Work& work) {
    const Rows rows = step.input_rows(work.rows);
    const Rows channels = work.inputs != 0 ? Rows{0, work.inputs} : input_channels(step, work);
    put(kInput, work.input.at(rows.begin) + step.input.box.channel_bytes(channels.begin));
    put(kInputType, step.input.box.type);
    put(kInputZero, step.input_zero);
    put(kHeight, rows.count());
    put(kWidth, step.input.box.w);
    put(kChannels, channels.count());
    put(kInputRow, work.input.row);
    put(kInputPixel, work.input.pixel);
}

void put_window(const Put& put, const Step& step, const Work& work) {
    const Rows windows = step.window_rows(work.rows);
    put(kKernelHeight, step.window.height);
    put(kKernelWidth, step.window.width);
    put(kStrideHeight, step.window.stride_height);
    put(kStrideWidth, step.window.stride_width);
    put(kPadTop, step.window.pad_above(windows, step.input_rows(work.rows)));
    put(kPadLeft, step.window.pad_left);
    put(kOutHeight, windows.count());
    put(kOutWidth, step.window.columns);
}

void put_pool(const Put& put, const Step& step, const Work& work) {
    if (step.pool.mode == isa::PoolMode::kNone) return;
    const FusedPool& pool = step.pool;
    put(kPool, pool.mode);
    put(kPoolHeight, pool.height);
    put(kPoolWidth, pool.width);
    put(kPoolStrideHeight, pool.stride_height);
    put(kPoolStrideWidth, pool.stride_width);
    const std::int64_t top =
        std::max<std::int64_t>(0, pool.top - work.rows.begin * pool.stride_height);
    const std::int64_t last = (work.rows.end - 1) * pool.stride_height - pool.top + pool.height;
    const std::int64_t bottom = std::max<std::int64_t>(0, last - step.window.rows);
    put(kPoolPads, top | pool.left << 4 | bottom << 8 | pool.right << 12);
}

/// Pixels that only follow each other may as well be one row.
void flatten(Instruction& i, const Step& step, const Work& work) {
    const bool element = step.opcode == Opcode::kElementwise || step.opcode == Opcode::kSoftmax ||
                         step.opcode == Opcode::kLocalResponse;
    if (!element && !(step.is_product() && step.window.is_pointwise() &&
                      step.pool.mode == isa::PoolMode::kNone))
        return;
    const auto width = static_cast<std::uint64_t>(step.input.box.w);
    const auto follows = [&](const Region& region) { return region.row == region.pixel * width; };
    const std::int64_t pixels = work.rows.count() * step.input.box.w;
    if (pixels > kMaximumExtent || !follows(work.input) || !follows(work.output)) return;
    const bool reads_all =
        step.combine != isa::Combine::kNone &&
        (step.broadcast == isa::Broadcast::kNone || step.broadcast == isa::Broadcast::kPixel);
    if (reads_all && !follows(work.operand)) return;
    i.set(kHeight, 1);
    i.set(kWidth, pixels);
    if (!step.is_product()) return;
    i.set(kOutHeight, 1);
    i.set(kOutWidth, pixels);
}

void put_product(const Put& put, const Step& step, const Work& work, const NpuTarget& target) {
    const WeightPart& part = *work.part;
    put(kDilationHeight, step.window.dilation_height);
    put(kDilationWidth, step.window.dilation_width);
    put(kUpsampleHeight, step.window.upsample_height);
    put(kUpsampleWidth, step.window.upsample_width);
    put(kOutChannels, work.channels);
    put(kWeights, work.weights + part.stream);
    put(kWeightBytes, part.stream_bytes);
    put(kWeightType, step.weight_type);
    put(kWeightFormat, part.format);
    put(kWeightGroup, target.array_outputs);
    put(kParameters, work.weights + part.parameters);
    put(kHasBias, !step.bias.empty());
    put(kPerChannel, step.scales.size() > 1);
    if (step.scales.size() == 1) {
        put(kMultiplier, step.scales[0].multiplier);
        put(kShift, step.scales[0].shift);
    }
    put(kRounding, rounding(target));
    put(kSumZero, step.sum_zero);
    put(kSumLow, step.sum_low);
    put(kSumHigh, step.sum_high);
    if (step.opcode == Opcode::kDepthwise)
        put(kDepthMultiplier, step.output_channels() / step.input.box.c);
}

/// A product of two values: rows are pixels, so that the array takes several at once.
void put_matrix(const Put& put, const Step& step, const Work& work, const NpuTarget& target) {
    const auto rows = static_cast<std::uint64_t>(work.rows.count());
    put(kHeight, 1);
    put(kWidth, rows);
    put(kInputRow, 0);
    put(kInputPixel, work.input.row);
    put(kOutputRow, 0);
    put(kOutputPixel, work.output.row);
    put(kOperand, work.operand.address);
    put(kOperandType, step.operand.box.type);
    put(kOperandZero, step.operand_zero);
    put(kOperandRow, work.operand.row);
    put(kTransposed, step.transposed);
    put(kOutChannels, work.channels);
    put(kParameters, work.constants + step.table.size());
    put(kHasBias, !step.bias.empty());
    put(kMultiplier, step.scales.at(0).multiplier);
    put(kShift, step.scales[0].shift);
    put(kRounding, rounding(target));
}

Instruction fill_of(const Step& step, const Work& work) {
    const std::uint32_t bits = isa::bits_of(step.output.box.type);
    const auto value = static_cast<std::uint32_t>(step.output_zero) & ((1u << bits) - 1);
    std::uint32_t byte = 0;
    for (std::uint32_t at = 0; at < 8; at += bits) byte |= value << at;
    return Instruction(Opcode::kFill, {{kCore, work.core},
                                       {kDestination, work.output.at(work.rows.begin)},
                                       {kRowBytes, static_cast<std::uint64_t>(step.output.box.w) *
                                                       work.output.pixel},
                                       {kRows, work.rows.count()},
                                       {kPlanes, 1},
                                       {kDestinationPitch, work.output.row},
                                       {kValue, byte}});
}

}  // namespace

isa::Instruction command_of(const Step& step, const Work& work, const NpuTarget& target) {
    if (step.opcode == Opcode::kFill) return fill_of(step, work);
    Instruction i(step.opcode);
    const Put put{i};
    put(kCore, work.core);
    put_input(put, step, work);
    put_result(put, step, work);
    switch (step.opcode) {
        case Opcode::kConvolve:
        case Opcode::kDepthwise:
            put_window(put, step, work);
            put_product(put, step, work, target);
            put(kAccumulate, work.goes_on);
            if (work.keeps) break;
            put_combination(put, step, work);
            put_pool(put, step, work);
            break;
        case Opcode::kElementwise:
            put_combination(put, step, work);
            put(kRounding, rounding(target));
            break;
        case Opcode::kMatrixMultiply:
            put_matrix(put, step, work, target);
            break;
        case Opcode::kPool:
            put_window(put, step, work);
            put(kPool, step.pooling);
            put(kParameters, work.constants + step.table.size());
            put(kRounding, rounding(target));
            break;
        case Opcode::kSoftmax:
            put(kMultiplier, step.softmax.multiplier);
            put(kLeftShift, step.softmax.left_shift);
            put(kDifferenceMin, step.softmax.least);
            break;
        case Opcode::kLocalResponse:
            put(kBefore, step.before);
            put(kAfter, step.after);
            put(kParameters, work.constants + step.table.size());
            put(kResultMultiplier, step.result.multiplier);
            put(kResultShift, step.result.shift);
            put(kRounding, rounding(target));
            break;
        case Opcode::kResize:
            put(kInterpolation, step.interpolation);
            put(kOutHeight, work.rows.count());
            put(kResultFirst, work.rows.begin);
            put(kResultHeight, step.output.box.h);
            put(kInputFirst, step.input_rows(work.rows).begin);
            put(kInputHeight, step.input.box.h);
            put(kOutWidth, step.output.box.w);
            put(kRounding, rounding(target));
            break;
        default:
            LOCKSTEP_CHECK(false, "step {} has no command", step.name);
    }
    flatten(i, step, work);
    return i;
}

Part channels_of(Part part, std::int64_t first, std::int64_t count) {
    part.channel += first;
    part.box.c = count;
    return part;
}

Region region_of(const Part& part, std::int64_t image, std::uint64_t address) {
    const Layout& whole = part.whole;
    if (!part.images.empty())
        return {address + part.images.at(static_cast<std::size_t>(image)),
                {0, part.box.h},
                part.pitch,
                part.pitch};
    return {address + static_cast<std::uint64_t>(image) * whole.image() +
                static_cast<std::uint64_t>(part.row) * whole.row() +
                static_cast<std::uint64_t>(part.column) * whole.pixel() +
                whole.channel_bytes(part.channel),
            {0, part.box.h},
            whole.row(),
            whole.pixel()};
}

isa::Instruction transfer_of(const Part& part, std::int64_t image, const Region& region,
                             Direction direction, bool host, std::uint64_t address) {
    const bool load = direction == Direction::kLoad;
    Instruction i(load ? (host ? Opcode::kReadHost : Opcode::kLoad)
                       : (host ? Opcode::kWriteHost : Opcode::kStore));
    const Region far = region_of(part, image, address);
    const Layout &box = part.box, &whole = part.whole;
    const auto rows = static_cast<std::uint64_t>(region.rows.count());
    const bool whole_rows = part.images.empty() && box.c == whole.c && box.w == whole.w &&
                            region.row == box.row() && region.pixel == box.pixel();
    const bool whole_pixels = box.c == whole.c && region.pixel == box.pixel();
    i.set(host ? kHost : kMemory, far.at(region.rows.begin));
    i.set(load ? kDestination : kSource, region.address);
    const auto put = [&](std::uint64_t bytes, std::uint64_t count, std::uint64_t planes,
                         std::uint64_t far_pitch, std::uint64_t far_plane, std::uint64_t pitch,
                         std::uint64_t plane) {
        i.set(kRowBytes, bytes);
        i.set(kRows, count);
        i.set(kPlanes, planes);
        i.set(load ? kSourcePitch : kDestinationPitch, far_pitch);
        i.set(load ? kSourcePlane : kDestinationPlane, far_plane);
        i.set(load ? kDestinationPitch : kSourcePitch, pitch);
        i.set(load ? kDestinationPlane : kSourcePlane, plane);
    };
    if (!part.images.empty())
        put(box.row(), rows, 1, far.row, 0, region.row, 0);
    else if (whole_rows && rows * box.row() <= kLongestRow)
        put(rows * box.row(), 1, 1, 0, 0, 0, 0);
    else if (whole_pixels)
        put(box.row(), rows, 1, far.row, 0, region.row, 0);
    else
        put(box.pixel(), static_cast<std::uint64_t>(box.w), rows, far.pixel, far.row, region.pixel,
            region.row);
    return i;
}

}  // namespace lockstep::network::npu_code
