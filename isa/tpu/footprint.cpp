// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/footprint.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::tpu {

namespace {

using enum Field;

/// End of `rows` rows of `bytes`, `pitch` apart.
std::uint64_t strided_end(std::uint64_t begin, std::uint64_t rows, std::uint64_t pitch,
                          std::uint64_t bytes) {
    return rows == 0 || bytes == 0 ? begin : begin + (rows - 1) * pitch + bytes;
}

void add_rows(Footprint& footprint, Space space, bool write, std::uint64_t begin,
              std::uint64_t rows, std::uint64_t pitch, std::uint64_t bytes) {
    footprint.add(space, write, begin, strided_end(begin, rows, pitch, bytes));
}

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
    footprint.add(Space::kUnifiedBuffer, false, begin, end);
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

/// What a dataflow asks of a matrix instruction.
std::string check_dataflow(const Instruction& i) {
    const Dataflow dataflow = dataflow_of(i);
    if (dataflow != Dataflow::kWeightStationary && !i.flag(kSwitchWeights))
        return "an array that holds no weights streams each tile once: switch_weights=1";
    if (i.flag(kUnload) && dataflow != Dataflow::kOutputStationary)
        return "unload needs dataflow=os";
    if (i.flag(kSwitchInputs) && dataflow != Dataflow::kInputStationary)
        return "switch_inputs needs dataflow=is";
    return "";
}

void add_b(Footprint& footprint, const Instruction& i) {
    const std::uint64_t size = size_of(i.type(kBType));
    if (!is_binary(i.as<Function>(kFunction))) return;
    switch (i.as<Broadcast>(kBroadcast)) {
        case Broadcast::kNone:
            return add_rows(footprint, Space::kUnifiedBuffer, false, i[kB], i[kRows], i[kBPitch],
                            i[kColumns] * size);
        case Broadcast::kRow:
            return add_rows(footprint, Space::kUnifiedBuffer, false, i[kB], 1, 0,
                            i[kColumns] * size);
        case Broadcast::kColumn:
            return add_rows(footprint, Space::kUnifiedBuffer, false, i[kB], i[kRows], i[kBPitch],
                            size);
        case Broadcast::kImmediate:
            return;
    }
}

void add_table(Footprint& footprint, const Instruction& i) {
    constexpr std::uint64_t kEntries = 256;
    if (i.flag(kHasTable))
        footprint.add(Space::kUnifiedBuffer, false, i[kTable], i[kTable] + kEntries);
}

bool is_narrow_integer(DataType type) {
    return !is_float(type) && size_of(type) <= 2;
}

/// What fixed-point arithmetic does not do.
std::string check_fixed_point(const Instruction& i) {
    if (!is_narrow_integer(i.type(kType))) return "fixed_point gives integers of 8 or 16 bits";
    const bool uses_shift = i.opcode() == Opcode::kVector || i.flag(kHasAddend);
    if (uses_shift && (i[kShift] == 0 || i[kShift] > 62)) return "a shift that is not 1 to 62";
    const auto is_relu_or_nothing = [&](Field field) {
        const auto function = i.as<Function>(field);
        return function == Function::kIdentity || function == Function::kRelu;
    };
    switch (i.opcode()) {
        case Opcode::kActivate:
            if (i.type(kAccumulatorType) != DataType::kInt32) return "fixed_point adds integers";
            if (!i.flag(kHasScales)) return "fixed_point needs has_scales";
            if (!is_relu_or_nothing(kFunction)) return "fixed_point knows identity and relu";
            if (i.as<PoolMode>(Field::kPool) == PoolMode::kAverage)
                return "an average in fixed_point is an instruction of its own (pool)";
            if (i.flag(kHasAddend) && !is_narrow_integer(i.type(kAddendType)))
                return "fixed_point adds integers";
            return "";
        case Opcode::kVector: {
            const auto function = i.as<Function>(kFunction);
            if (function != Function::kIdentity && function != Function::kAdd &&
                function != Function::kMultiply)
                return "fixed_point knows identity, add and multiply";
            if (!is_relu_or_nothing(kThen)) return "fixed_point knows identity and relu";
            if (!is_narrow_integer(i.type(kAType)) ||
                (is_binary(function) && (!is_narrow_integer(i.type(kBType)) ||
                                         i.as<Broadcast>(kBroadcast) == Broadcast::kImmediate)))
                return "fixed_point takes integers of 8 or 16 bits";
            return "";
        }
        default:  // pool: sums of bytes that fp32 holds exactly
            if (i.as<PoolMode>(Field::kPool) == PoolMode::kAverage &&
                (size_of(i.type(kAType)) != 1 || i[kKernelHeight] * i[kKernelWidth] > 1 << 14))
                return "fixed_point averages at most 2^14 values of 8 bits";
            return is_narrow_integer(i.type(kAType)) ? ""
                                                     : "fixed_point takes integers of 8 or 16 bits";
    }
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

Footprint footprint(const Instruction& i) {
    Footprint result;
    const std::uint64_t size = size_of(i.type(kType));
    constexpr Space kBuffer = Space::kUnifiedBuffer;
    const auto transfer = [&](Space from, Field source, Space to, Field destination) {
        add_rows(result, from, false, i[source], i[kRows], i[kSourcePitch], i[kRowBytes]);
        add_rows(result, to, true, i[destination], i[kRows], i[kDestinationPitch], i[kRowBytes]);
    };
    const auto operand_a = [&] {
        add_rows(result, kBuffer, false, i[kA], i[kRows], i[kAPitch],
                 i[kColumns] * size_of(i.type(i.opcode() == Opcode::kTranspose ? kType : kAType)));
    };
    const auto destination = [&](std::uint64_t rows, std::uint64_t columns) {
        add_rows(result, kBuffer, true, i[kDestination], rows, i[kPitch], columns * size);
    };
    switch (i.opcode()) {
        case Opcode::kReadHost:
            transfer(Space::kHost, kHost, kBuffer, kDestination);
            break;
        case Opcode::kWriteHost:
            transfer(kBuffer, kSource, Space::kHost, kHost);
            break;
        case Opcode::kLoad:
            transfer(Space::kMemory, kMemory, kBuffer, kDestination);
            break;
        case Opcode::kStore:
            transfer(kBuffer, kSource, Space::kMemory, kMemory);
            break;
        case Opcode::kGather:
            result.add(kBuffer, false, i[kIndices], i[kIndices] + 4 * i[kRows]);
            add_rows(result, kBuffer, true, i[kDestination], i[kRows], i[kDestinationPitch],
                     i[kRowBytes]);
            break;
        case Opcode::kReadWeights: {
            const std::uint64_t weight = size_of(i.type(kWeightType));
            const std::uint64_t rows = i.flag(kTransposed) ? i[kColumns] : i[kLanes];
            const std::uint64_t columns = i.flag(kTransposed) ? i[kLanes] : i[kColumns];
            const Space from = i.as<WeightSource>(kFrom) == WeightSource::kMemory
                                   ? Space::kMemory
                                   : Space::kUnifiedBuffer;
            add_rows(result, from, false, i[kAddress], rows, i[kPitch], columns * weight);
            break;
        }
        case Opcode::kMatrixMultiply:
            if (takes_inputs(i))
                add_rows(result, kBuffer, false, i[kSource], i[kRows], i[kPitch], i[kLanes] * size);
            add_sums(result, i);
            break;
        case Opcode::kConvolve:
            if (takes_inputs(i)) add_windows(result, i, i[kSource], i[kChannels] * size);
            add_sums(result, i);
            break;
        case Opcode::kDepthwise:
            add_windows(result, i, i[kSource], i[kColumns] * size);
            result.add(kBuffer, false, i[kWeights],
                       i[kWeights] + i[kKernelHeight] * i[kKernelWidth] * i[kColumns] *
                                         size_of(i.type(kWeightType)));
            result.add(Space::kAccumulators, true, i[kAccumulator], i[kAccumulator] + i[kRows]);
            break;
        case Opcode::kActivate: {
            result.add(Space::kAccumulators, false, i[kAccumulator],
                       i[kAccumulator] + i[i.flag(kTransposed) ? kColumns : kRows]);
            const std::uint64_t scale_words = is_fixed_point(i) ? 2 : 1;
            const std::uint64_t parameters =
                (i[kHasBias] + i[kHasScales] * scale_words) * i[kColumns];
            result.add(kBuffer, false, i[kParameters], i[kParameters] + 4 * parameters);
            if (i.flag(kHasAddend))
                add_rows(result, kBuffer, false, i[kAddend], i[kRows], i[kAddendPitch],
                         i[kColumns] * size_of(i.type(kAddendType)));
            add_table(result, i);
            destination(activate_output_rows(i), i[kColumns]);
            break;
        }
        case Opcode::kVector:
            operand_a();
            add_b(result, i);
            add_table(result, i);
            destination(i[kRows], i[kColumns]);
            break;
        case Opcode::kReduce: {
            operand_a();
            const bool columns = i.as<Axis>(kAxis) == Axis::kColumns;
            destination(columns ? i[kRows] : 1, columns ? 1 : i[kColumns]);
            break;
        }
        case Opcode::kPool:
            add_windows(result, i, i[kA], i[kColumns] * size_of(i.type(kAType)));
            if (is_fixed_point(i) && i.as<PoolMode>(Field::kPool) == PoolMode::kAverage)
                result.add(kBuffer, false, i[kParameters],
                           i[kParameters] + 8 * i[kKernelHeight] * i[kKernelWidth]);
            destination(i[kRows], i[kColumns]);
            break;
        case Opcode::kTranspose:
            operand_a();
            destination(i[kColumns], i[kRows]);
            break;
        case Opcode::kNop:
        case Opcode::kHalt:
        case Opcode::kSync:
        case Opcode::kInterruptHost:
        case Opcode::kSyncHost:
        case Opcode::kTag:
            break;
    }
    return result;
}

std::string check_operands(const Instruction& i) {
    const auto integer_pair = [&](Field a, Field b) {
        return !is_float(i.type(a)) && !is_float(i.type(b)) && size_of(i.type(a)) <= 2 &&
               size_of(i.type(b)) <= 2;
    };
    const auto float_pair = [&](Field a, Field b) {
        return is_float(i.type(a)) && is_float(i.type(b));
    };
    const auto windows = [&]() -> std::string {
        if (i[kOutHeight] == 0 || i[kOutWidth] == 0 || i[kHeight] == 0 || i[kWidth] == 0)
            return "an image without pixels";
        if (i[kKernelHeight] == 0 || i[kKernelWidth] == 0 || i[kStrideHeight] == 0 ||
            i[kStrideWidth] == 0)
            return "a window or stride of 0";
        // Addresses stay far from overflow: no unified buffer has this many bytes.
        constexpr std::uint64_t kLimit = std::uint64_t{1} << 40;
        const std::uint64_t image = i[kHeight] * i[kWidth] * i[kPixelPitch];
        const std::uint64_t images = (i[kFirstRow] + i[kRows]) / (i[kOutHeight] * i[kOutWidth]) + 1;
        if (image != 0 && images > kLimit / image) return "images of more than 2^40 bytes";
        return "";
    };
    const bool fixed_point = is_fixed_point(i);
    if (fixed_point) {
        const std::string wrong = check_fixed_point(i);
        if (!wrong.empty()) return wrong;
    }
    if (i.flag(kHasTable) && (is_float(i.type(kType)) || size_of(i.type(kType)) != 1))
        return "a table is for results of 8 bits";
    if (i.flag(kHasTable) && !fixed_point) return "a table needs rounding=fixed_point";
    switch (i.opcode()) {
        case Opcode::kMatrixMultiply:
        case Opcode::kConvolve:
        case Opcode::kDepthwise:
            if (!integer_pair(kType, kWeightType) && !float_pair(kType, kWeightType))
                return "operands must be integers of 8 or 16 bits both, or bf16 or fp32 both";
            if (const std::string wrong = check_dataflow(i); !wrong.empty()) return wrong;
            if (i.opcode() == Opcode::kMatrixMultiply) return "";
            if (i.opcode() == Opcode::kConvolve) {
                if (i[kChannels] == 0) return "a window without channels";
                if (i[kFirstLane] + i[kLanes] > i[kKernelHeight] * i[kKernelWidth] * i[kChannels])
                    return "lanes past the end of the window";
            }
            if (i[kDilationHeight] == 0 || i[kDilationWidth] == 0) return "a dilation of 0";
            return windows();
        case Opcode::kPool:
            if (i.as<PoolMode>(Field::kPool) == PoolMode::kNone) return "no pool mode";
            if (!fixed_point && !is_float(i.type(kAType)) && i.float_value(kAScale) == 0)
                return "an a_scale of 0";
            if (!fixed_point && !is_float(i.type(kType)) && !(i.float_value(kOutScale) > 0))
                return "integer results need an out_scale above 0";
            return windows();
        case Opcode::kActivate: {
            const DataType from = i.type(kAccumulatorType);
            if (from != DataType::kInt32 && from != DataType::kFp32)
                return "accumulators are int32 or fp32";
            if (is_binary(i.as<Function>(kFunction))) return "a function of two operands";
            if (!fixed_point && i.float_value(kScale) == 0) return "a scale of 0";
            if (!fixed_point && !is_float(i.type(kType)) && !(i.float_value(kOutScale) > 0))
                return "integer results need an out_scale above 0";
            if (i.as<PoolMode>(Field::kPool) == PoolMode::kNone) return "";
            if (i[kHeight] == 0 || i[kWidth] == 0 || i[kRows] % (i[kHeight] * i[kWidth]) != 0)
                return "pooling needs rows that are whole images of height x width";
            if (i[kPoolKernel] == 0 || i[kPoolStride] == 0) return "a window or stride of 0";
            if (activate_output_rows(i) == 0 && i[kRows] != 0) return "a window without pixels";
            return "";
        }
        case Opcode::kVector:
            if (is_binary(i.as<Function>(kThen))) return "`then` is a function of two operands";
            if (fixed_point) return "";
            if (is_binary(i.as<Function>(kFunction)) && !is_float(i.type(kBType)) &&
                i.as<Broadcast>(kBroadcast) != Broadcast::kImmediate && i.float_value(kBScale) == 0)
                return "a b_scale of 0";
            [[fallthrough]];
        case Opcode::kReduce:
            if (!is_float(i.type(kAType)) && i.float_value(kAScale) == 0) return "an a_scale of 0";
            if (!is_float(i.type(kType)) && !(i.float_value(kOutScale) > 0))
                return "integer results need an out_scale above 0";
            return "";
        default:
            return "";
    }
}

}  // namespace lockstep::tpu
