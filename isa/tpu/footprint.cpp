// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/footprint.h"

#include <algorithm>

#include "isa/tpu/operands.h"

namespace lockstep::tpu {

namespace {

using enum Field;
constexpr Space kBuffer = Space::kUnifiedBuffer;

/// The pixels of the input images that the windows of the output rows touch.
void add_windows(Footprint& footprint, const Instruction& i, std::uint64_t base,
                 std::uint64_t pixel_bytes) {
    const std::uint64_t out_image = i[kOutHeight] * i[kOutWidth];
    if (out_image == 0 || i[kRows] == 0 || i[kHeight] == 0 || i[kWidth] == 0) return;
    const std::uint64_t first = i[kFirstRow], last = first + i[kRows] - 1;
    std::int64_t top = 0, bottom = static_cast<std::int64_t>(i[kHeight]) - 1;
    const auto input_row = [&](std::uint64_t row, std::uint64_t kernel_row) {
        const std::uint64_t y = row % out_image / i[kOutWidth];
        return static_cast<std::int64_t>(y * i[kStrideHeight] +
                                         kernel_row *
                                             std::max<std::uint64_t>(1, i[kDilationHeight])) -
               static_cast<std::int64_t>(i[kPadTop]);
    };
    if (first / out_image == last / out_image) {
        top = std::clamp<std::int64_t>(input_row(first, 0), 0, bottom);
        bottom = std::clamp<std::int64_t>(
            input_row(last, std::max<std::uint64_t>(1, i[kKernelHeight]) - 1), 0, bottom);
    }
    const std::uint64_t row_bytes = i[kWidth] * i[kPixelPitch];
    const std::uint64_t image_bytes = i[kHeight] * row_bytes;
    const std::uint64_t begin =
        base + first / out_image * image_bytes + static_cast<std::uint64_t>(top) * row_bytes;
    const std::uint64_t end = base + last / out_image * image_bytes +
                              static_cast<std::uint64_t>(bottom) * row_bytes +
                              (i[kWidth] - 1) * i[kPixelPitch] + pixel_bytes;
    footprint.add_windows(kBuffer, begin, end, base, pixel_bytes);
}

/// Whether a matrix instruction reads rows, or works on those that the array holds.
bool takes_inputs(const Instruction& i) {
    return dataflow_of(i) != Dataflow::kInputStationary || i.flag(kSwitchInputs);
}

/// Accumulators that a matrix instruction adds to and writes.
void add_sums(Footprint& footprint, const Instruction& i) {
    const Dataflow dataflow = dataflow_of(i);
    const bool held = dataflow == Dataflow::kOutputStationary;  // they stay in the array
    const std::uint64_t end =
        i[kAccumulator] + i[dataflow == Dataflow::kInputStationary ? kColumns : kRows];
    if (i.flag(kAccumulate) && !held)
        footprint.add(Space::kAccumulators, false, i[kAccumulator], end);
    if (!held || i.flag(kUnload)) footprint.add(Space::kAccumulators, true, i[kAccumulator], end);
}

void add_b(Footprint& footprint, const Instruction& i) {
    const std::uint64_t size = size_of(i.type(kBType));
    if (!is_binary(i.as<Function>(kFunction))) return;
    switch (i.as<Broadcast>(kBroadcast)) {
        case Broadcast::kNone:
            return footprint.add_rows(kBuffer, false, i[kB], i[kRows], i[kBPitch],
                                      i[kColumns] * size);
        case Broadcast::kRow:
            return footprint.add(kBuffer, false, i[kB], i[kB] + i[kColumns] * size);
        case Broadcast::kColumn:
            return footprint.add_rows(kBuffer, false, i[kB], i[kRows], i[kBPitch], size);
        case Broadcast::kImmediate:
            return;
    }
}

void add_table(Footprint& footprint, const Instruction& i) {
    constexpr std::uint64_t kEntries = 256;
    if (i.flag(kHasTable)) footprint.add(kBuffer, false, i[kTable], i[kTable] + kEntries);
}

/// Operand a of the vector unit, whose elements are of the type that a field has.
void add_a(Footprint& footprint, const Instruction& i, Field type) {
    footprint.add_rows(kBuffer, false, i[kA], i[kRows], i[kAPitch],
                       i[kColumns] * size_of(i.type(type)));
}

void add_destination(Footprint& footprint, const Instruction& i, std::uint64_t rows,
                     std::uint64_t columns) {
    footprint.add_rows(kBuffer, true, i[kDestination], rows, i[kPitch],
                       columns * size_of(i.type(kType)));
}

}  // namespace

std::uint64_t activate_output_rows(const Instruction& i) {
    if (i.as<PoolMode>(Field::kPool) == PoolMode::kNone) return i[kRows];
    const std::uint64_t image = i[kHeight] * i[kWidth];
    if (image == 0) return 0;
    return i[kRows] / image *
           pooled(i[kHeight], i[kPoolKernel], i[kPoolStride], i[kPoolPadTop] + i[kPoolPadBottom]) *
           pooled(i[kWidth], i[kPoolKernel], i[kPoolStride], i[kPoolPadLeft] + i[kPoolPadRight]);
}

bool slides(const Instruction& i) {
    return i.opcode() == Opcode::kConvolve &&
           !(i[kKernelHeight] == 1 && i[kKernelWidth] == 1 && i[kStrideHeight] == 1 &&
             i[kStrideWidth] == 1 && i[kPadTop] == 0 && i[kPadLeft] == 0);
}

WindowRows window_rows(const Instruction& i) {
    return {i[kSource], i[kFirstRow], i[kFirstLane], i[kRows], i[kLanes], i[kPadTop], i[kHeight]};
}

void touch_transfer_in(const Instruction& i, Footprint& footprint) {
    const bool host = i.opcode() == Opcode::kReadHost;
    footprint.add_rows(host ? Space::kHost : Space::kMemory, false, i[host ? kHost : kMemory],
                       i[kRows], i[kSourcePitch], i[kRowBytes]);
    footprint.add_rows(kBuffer, true, i[kDestination], i[kRows], i[kDestinationPitch],
                       i[kRowBytes]);
}

void touch_transfer_out(const Instruction& i, Footprint& footprint) {
    const bool host = i.opcode() == Opcode::kWriteHost;
    footprint.add_rows(kBuffer, false, i[kSource], i[kRows], i[kSourcePitch], i[kRowBytes]);
    footprint.add_rows(host ? Space::kHost : Space::kMemory, true, i[host ? kHost : kMemory],
                       i[kRows], i[kDestinationPitch], i[kRowBytes]);
}

void touch_gather(const Instruction& i, Footprint& footprint) {
    footprint.add(kBuffer, false, i[kIndices], i[kIndices] + 4 * i[kRows]);
    footprint.add_rows(kBuffer, true, i[kDestination], i[kRows], i[kDestinationPitch],
                       i[kRowBytes]);
}

void touch_read_weights(const Instruction& i, Footprint& footprint) {
    const std::uint64_t rows = i.flag(kTransposed) ? i[kColumns] : i[kLanes];
    const std::uint64_t columns = i.flag(kTransposed) ? i[kLanes] : i[kColumns];
    const Space from =
        i.as<WeightSource>(kFrom) == WeightSource::kMemory ? Space::kMemory : kBuffer;
    footprint.add_rows(from, false, i[kAddress], rows, i[kPitch],
                       columns * size_of(i.type(kWeightType)));
}

void touch_matrix_multiply(const Instruction& i, Footprint& footprint) {
    if (takes_inputs(i))
        footprint.add_rows(kBuffer, false, i[kSource], i[kRows], i[kPitch],
                           i[kLanes] * size_of(i.type(kType)));
    add_sums(footprint, i);
}

void touch_convolve(const Instruction& i, Footprint& footprint) {
    if (takes_inputs(i))
        add_windows(footprint, i, i[kSource], i[kChannels] * size_of(i.type(kType)));
    add_sums(footprint, i);
}

void touch_depthwise(const Instruction& i, Footprint& footprint) {
    add_windows(footprint, i, i[kSource], i[kColumns] * size_of(i.type(kType)));
    footprint.add(kBuffer, false, i[kWeights],
                  i[kWeights] + i[kKernelHeight] * i[kKernelWidth] * i[kColumns] *
                                    size_of(i.type(kWeightType)));
    footprint.add(Space::kAccumulators, true, i[kAccumulator], i[kAccumulator] + i[kRows]);
}

void touch_activate(const Instruction& i, Footprint& footprint) {
    footprint.add(Space::kAccumulators, false, i[kAccumulator],
                  i[kAccumulator] + i[i.flag(kTransposed) ? kColumns : kRows]);
    const std::uint64_t scale_words = is_fixed_point(i) ? 2 : 1;
    const std::uint64_t parameters = (i[kHasBias] + i[kHasScales] * scale_words) * i[kColumns];
    footprint.add(kBuffer, false, i[kParameters], i[kParameters] + 4 * parameters);
    if (i.flag(kHasAddend))
        footprint.add_rows(kBuffer, false, i[kAddend], i[kRows], i[kAddendPitch],
                           i[kColumns] * size_of(i.type(kAddendType)));
    add_table(footprint, i);
    add_destination(footprint, i, activate_output_rows(i), i[kColumns]);
}

void touch_vector(const Instruction& i, Footprint& footprint) {
    add_a(footprint, i, kAType);
    add_b(footprint, i);
    add_table(footprint, i);
    add_destination(footprint, i, i[kRows], i[kColumns]);
}

void touch_reduce(const Instruction& i, Footprint& footprint) {
    add_a(footprint, i, kAType);
    const bool columns = i.as<Axis>(kAxis) == Axis::kColumns;
    add_destination(footprint, i, columns ? i[kRows] : 1, columns ? 1 : i[kColumns]);
}

void touch_pool(const Instruction& i, Footprint& footprint) {
    add_windows(footprint, i, i[kA], i[kColumns] * size_of(i.type(kAType)));
    if (is_fixed_point(i) && i.as<PoolMode>(Field::kPool) == PoolMode::kAverage)
        footprint.add(kBuffer, false, i[kParameters],
                      i[kParameters] + 8 * i[kKernelHeight] * i[kKernelWidth]);
    add_destination(footprint, i, i[kRows], i[kColumns]);
}

void touch_transpose(const Instruction& i, Footprint& footprint) {
    add_a(footprint, i, kType);
    add_destination(footprint, i, i[kColumns], i[kRows]);
}

}  // namespace lockstep::tpu
