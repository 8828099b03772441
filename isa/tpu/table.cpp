// SPDX-License-Identifier: Apache-2.0
// The TPU's instructions. The five key ones and their operands follow Jouppi et al., ISCA 2017,
// section 2; widths are generous, because the paper's 12-byte encoding is not public.
#include "isa/tpu/table.h"

#include "isa/tpu/operands.h"

namespace lockstep::tpu {

namespace {

using enum Field;
using enum FieldKind;
using command::Id;

constexpr std::string_view kQueueNames[] = {"load",    "store",   "weights",  "matrix0", "matrix1",
                                            "matrix2", "matrix3", "matrix4",  "matrix5", "matrix6",
                                            "matrix7", "vector",  "sequencer"};
constexpr std::string_view kSpaceNames[] = {"host", "memory", "unified_buffer", "accumulators"};
constexpr std::string_view kTypes[] = {"int8", "uint8", "int16", "int32", "bf16", "fp32"};
constexpr std::string_view kFunctions[] = {
    "identity",   "relu",  "relu6",        "sigmoid",    "tanh",   "exp",     "log",
    "sqrt",       "rsqrt", "reciprocal",   "negate",     "abs",    "erf",     "gelu",
    "gelu_tanh",  "silu",  "hard_sigmoid", "hard_swish", "square", "floor",   "softplus",
    "leaky_relu", "add",   "subtract",     "multiply",   "divide", "maximum", "minimum",
    "power",      "equal", "less"};
constexpr std::string_view kBroadcasts[] = {"none", "row", "column", "immediate"};
constexpr std::string_view kReductions[] = {"sum", "mean", "max", "min", "sum_of_squares"};
constexpr std::string_view kAxes[] = {"columns", "rows"};
constexpr std::string_view kPoolModes[] = {"none", "max", "average"};
constexpr std::string_view kRoundings[] = {"real", "fixed_point"};
constexpr std::string_view kDataflows[] = {"ws", "os", "is"};
constexpr std::string_view kWeightSources[] = {"memory", "unified_buffer"};

constexpr FieldRow kFieldRows[] = {
    {kWaitLoad, "wait_load", kUnsigned, 8, "wait for the d-th latest of `load`; 0: no wait"},
    {kWaitStore, "wait_store", kUnsigned, 8, "wait for the d-th latest of `store`; 0: no wait"},
    {kWaitWeights, "wait_weights", kUnsigned, 8,
     "wait for the d-th latest of `weights`; 0: no wait"},
    {kWaitMatrix0, "wait_matrix0", kUnsigned, 8,
     "wait for the d-th latest of `matrix0`; 0: no wait"},
    {kWaitMatrix1, "wait_matrix1", kUnsigned, 8,
     "wait for the d-th latest of `matrix1`; 0: no wait"},
    {kWaitMatrix2, "wait_matrix2", kUnsigned, 8,
     "wait for the d-th latest of `matrix2`; 0: no wait"},
    {kWaitMatrix3, "wait_matrix3", kUnsigned, 8,
     "wait for the d-th latest of `matrix3`; 0: no wait"},
    {kWaitMatrix4, "wait_matrix4", kUnsigned, 8,
     "wait for the d-th latest of `matrix4`; 0: no wait"},
    {kWaitMatrix5, "wait_matrix5", kUnsigned, 8,
     "wait for the d-th latest of `matrix5`; 0: no wait"},
    {kWaitMatrix6, "wait_matrix6", kUnsigned, 8,
     "wait for the d-th latest of `matrix6`; 0: no wait"},
    {kWaitMatrix7, "wait_matrix7", kUnsigned, 8,
     "wait for the d-th latest of `matrix7`; 0: no wait"},
    {kWaitVector, "wait_vector", kUnsigned, 8, "wait for the d-th latest of `vector`; 0: no wait"},
    {kCode, "code", kUnsigned, 32, "number that the host gets; of a host task"},
    {kStep, "step", kUnsigned, 32, "index into the program's steps"},
    {kUnit, "unit", kUnsigned, 3, "matrix unit"},
    {kHost, "host", FieldKind::kHex, 48, "host address, bytes"},
    {kMemory, "memory", FieldKind::kHex, 48, "memory address, bytes"},
    {kSource, "source", FieldKind::kHex, 32, "unified buffer address, bytes"},
    {kDestination, "destination", FieldKind::kHex, 32, "unified buffer address, bytes"},
    {kIndices, "indices", FieldKind::kHex, 32, "unified buffer address of one int32 a row"},
    {kRows, "rows", kUnsigned, 24, "rows"},
    {kRowBytes, "row_bytes", kUnsigned, 32, "bytes of a row"},
    {kSourcePitch, "source_pitch", kUnsigned, 32, "bytes from row to row in the source"},
    {kDestinationPitch, "destination_pitch", kUnsigned, 32,
     "bytes from row to row in the destination"},
    {kFrom, "from", kName, 1, "space that the tile is read from", kWeightSources},
    {kAddress, "address", FieldKind::kHex, 48, "address of the tile in `from`, bytes"},
    {kLanes, "lanes", kUnsigned, 16, "rows of the array in use (K of the tile)"},
    {kColumns, "columns", kUnsigned, 24, "columns (N of the tile; channels)"},
    {kPitch, "pitch", kUnsigned, 32, "bytes from row to row"},
    {kTransposed, "transposed", kUnsigned, 1,
     "1: stored column by column (read_weights: the tile; activate: the sums, by an is product)"},
    {kType, "type", kName, 4, "element type (of the result, where there are several)", kTypes},
    {kWeightType, "weight_type", kName, 4, "element type of the weights", kTypes},
    {kAccumulator, "accumulator", kUnsigned, 24, "first accumulator row"},
    {kAccumulatorType, "accumulator_type", kName, 4, "int32 or fp32", kTypes},
    {kAccumulate, "accumulate", kUnsigned, 1, "1: add to the accumulators; 0: overwrite"},
    {kSwitchWeights, "switch_weights", kUnsigned, 1, "1: take the next tile of the FIFO first"},
    {kFirstRow, "first_row", kUnsigned, 32, "index of the first output pixel (n, oy, ox)"},
    {kFirstLane, "first_lane", kUnsigned, 24, "index of the first lane in (ky, kx, channel)"},
    {kHeight, "height", kUnsigned, 16, "height of the input image, pixels"},
    {kWidth, "width", kUnsigned, 16, "width of the input image, pixels"},
    {kPixelPitch, "pixel_pitch", kUnsigned, 24, "bytes from pixel to pixel"},
    {kChannels, "channels", kUnsigned, 16, "channels of the window"},
    {kOutHeight, "out_height", kUnsigned, 16, "height of the output image"},
    {kOutWidth, "out_width", kUnsigned, 16, "width of the output image"},
    {kKernelHeight, "kernel_height", kUnsigned, 16, "height of the window"},
    {kKernelWidth, "kernel_width", kUnsigned, 16, "width of the window"},
    {kStrideHeight, "stride_height", kUnsigned, 6, "step of the window downwards"},
    {kStrideWidth, "stride_width", kUnsigned, 6, "step of the window to the right"},
    {kPadTop, "pad_top", kUnsigned, 8, "rows that are missing above"},
    {kPadLeft, "pad_left", kUnsigned, 8, "columns that are missing on the left"},
    {kDilationHeight, "dilation_height", kUnsigned, 6, "pixels between the rows of the window"},
    {kDilationWidth, "dilation_width", kUnsigned, 6, "pixels between the columns of the window"},
    {kPadValue, "pad_value", kSigned, 16, "what is read outside of the image (integers; bf16: 0)"},
    {kParameters, "parameters", FieldKind::kHex, 32,
     "unified buffer address of the columns' parameters: biases (int32, or fp32 where the "
     "accumulators are), then scales (fp32; fixed_point: int32 multipliers, then int32 shifts), as "
     "has_bias and has_scales say; an average in fixed_point: multiplier and shift for each count "
     "of pixels from 1"},
    {kHasBias, "has_bias", kUnsigned, 1, "1: add the column's bias"},
    {kHasScales, "has_scales", kUnsigned, 1, "1: multiply by the column's scale"},
    {kFunction, "function", kName, 6, "what is computed", kFunctions},
    {kThen, "then", kName, 6, "function of one operand, applied to the result", kFunctions},
    {kScale, "scale", kFloat, 32, "factor of all columns"},
    {kOutScale, "out_scale", kFloat, 32, "integer results are divided by it"},
    {kZeroPoint, "zero_point", kSigned, 12, "added to integer results"},
    {kHasAddend, "has_addend", kUnsigned, 1, "1: add the addend before the function"},
    {kAddend, "addend", FieldKind::kHex, 32, "unified buffer address, bytes"},
    {kAddendPitch, "addend_pitch", kUnsigned, 32, "bytes from row to row of the addend"},
    {kAddendType, "addend_type", kName, 4, "element type of the addend", kTypes},
    {kAddendScale, "addend_scale", kFloat, 32, "factor of the addend"},
    {kAddendZero, "addend_zero", kSigned, 12, "subtracted from the addend first"},
    {Field::kPool, "pool", kName, 2, "pooling over the window", kPoolModes},
    {kPoolKernel, "pool_kernel", kUnsigned, 4, "side of the pooling window"},
    {kPoolStride, "pool_stride", kUnsigned, 4, "step of the pooling window"},
    {kPoolPadTop, "pool_pad_top", kUnsigned, 4, "rows that are missing above"},
    {kPoolPadLeft, "pool_pad_left", kUnsigned, 4, "columns that are missing on the left"},
    {kPoolPadBottom, "pool_pad_bottom", kUnsigned, 4, "rows that are missing below"},
    {kPoolPadRight, "pool_pad_right", kUnsigned, 4, "columns that are missing on the right"},
    {kCountPad, "count_pad", kUnsigned, 1, "1: an average counts what is missing as zeros"},
    {kA, "a", FieldKind::kHex, 32, "unified buffer address of operand a"},
    {kAPitch, "a_pitch", kUnsigned, 32, "bytes from row to row of a"},
    {kAType, "a_type", kName, 4, "element type of a", kTypes},
    {kAScale, "a_scale", kFloat, 32, "factor of a"},
    {kAZero, "a_zero", kSigned, 12, "subtracted from a first"},
    {kB, "b", FieldKind::kHex, 32, "unified buffer address of operand b"},
    {kBPitch, "b_pitch", kUnsigned, 32, "bytes from row to row of b"},
    {kBType, "b_type", kName, 4, "element type of b", kTypes},
    {kBScale, "b_scale", kFloat, 32, "factor of b"},
    {kBZero, "b_zero", kSigned, 12, "subtracted from b first"},
    {kBroadcast, "broadcast", kName, 2, "how b is spread", kBroadcasts},
    {kImmediate, "immediate", kFloat, 32, "operand b where broadcast=immediate"},
    {kReduction, "reduction", kName, 3, "how values are joined", kReductions},
    {kAxis, "axis", kName, 1, "the axis that goes away", kAxes},
    {kWeights, "weights", FieldKind::kHex, 32,
     "unified buffer address of [ky][kx][channel] weights"},
    {kRounding, "rounding", kName, 1, "arithmetic of integer results", kRoundings},
    {kFirst, "first", kSigned, 32, "fixed_point: multiplier of the first operand"},
    {kSecond, "second", kSigned, 32, "fixed_point: multiplier of the second operand"},
    {kShift, "shift", kUnsigned, 6, "fixed_point: the multipliers stand for 2^-shift times them"},
    {kSumZero, "sum_zero", kSigned, 12, "fixed_point: zero point after the addend"},
    {kHasTable, "has_table", kUnsigned, 1, "1: the 8-bit result is looked up in the table"},
    {kTable, "table", kUnsigned, 32,
     "unified buffer address of 256 results, for the lowest value of the type up"},
    {kDataflow, "dataflow", kName, 2,
     "what the array holds: ws: the weight tile; os: the sums; is: the rows", kDataflows},
    {kSwitchInputs, "switch_inputs", kUnsigned, 1,
     "is: 1: hold these rows first; 0: those that the array holds"},
    {kUnload, "unload", kUnsigned, 1, "os: 1: then the sums leave for the accumulators"},
};
static_assert(std::size(kFieldRows) == kFields && kFields <= command::kMaxFields);

constexpr Id kInterruptFields[] = {kCode};
constexpr Id kTagFields[] = {kStep};
constexpr Id kReadHostFields[] = {kHost,     kDestination, kRows,
                                  kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Id kWriteHostFields[] = {kSource,   kHost,        kRows,
                                   kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Id kLoadFields[] = {kMemory,   kDestination, kRows,
                              kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Id kStoreFields[] = {kSource, kMemory, kRows, kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Id kGatherFields[] = {kMemory,   kIndices,     kDestination,     kRows,
                                kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Id kReadWeightsFields[] = {kUnit,  kFrom,    kAddress,    kPitch,
                                     kLanes, kColumns, kTransposed, kWeightType};
constexpr Id kMatrixMultiplyFields[] = {
    kUnit,       kSource,        kPitch, kRows,       kLanes,    kColumns,      kAccumulator,
    kAccumulate, kSwitchWeights, kType,  kWeightType, kDataflow, kSwitchInputs, kUnload};
constexpr Id kConvolveFields[] = {
    kUnit,           kSource,        kPixelPitch,    kRows,        kLanes,        kColumns,
    kAccumulator,    kAccumulate,    kSwitchWeights, kType,        kWeightType,   kFirstRow,
    kFirstLane,      kHeight,        kWidth,         kChannels,    kOutHeight,    kOutWidth,
    kKernelHeight,   kKernelWidth,   kStrideHeight,  kStrideWidth, kPadTop,       kPadLeft,
    kDilationHeight, kDilationWidth, kPadValue,      kDataflow,    kSwitchInputs, kUnload};
constexpr Id kActivateFields[] = {
    kAccumulator, kAccumulatorType, kRows,        kColumns,       kDestination,  kPitch,
    kType,        kFunction,        kParameters,  kHasBias,       kHasScales,    kScale,
    kOutScale,    kZeroPoint,       kHasAddend,   kAddend,        kAddendPitch,  kAddendType,
    kAddendScale, kAddendZero,      Field::kPool, kHeight,        kWidth,        kPoolKernel,
    kPoolStride,  kPoolPadTop,      kPoolPadLeft, kPoolPadBottom, kPoolPadRight, kRounding,
    kFirst,       kSecond,          kShift,       kSumZero,       kHasTable,     kTable,
    kTransposed};
constexpr Id kVectorFields[] = {kFunction,  kThen,      kA,           kAPitch,   kAType,  kAScale,
                                kAZero,     kB,         kBPitch,      kBType,    kBScale, kBZero,
                                kBroadcast, kImmediate, kDestination, kPitch,    kType,   kOutScale,
                                kZeroPoint, kRows,      kColumns,     kRounding, kFirst,  kSecond,
                                kShift,     kHasTable,  kTable};
constexpr Id kReduceFields[] = {kReduction, kAxis,      kA,           kAPitch, kAType,
                                kAScale,    kAZero,     kDestination, kPitch,  kType,
                                kOutScale,  kZeroPoint, kRows,        kColumns};
constexpr Id kPoolFields[] = {Field::kPool, kCountPad,     kA,           kAType,    kAScale,
                              kAZero,       kPixelPitch,   kColumns,     kRows,     kFirstRow,
                              kHeight,      kWidth,        kOutHeight,   kOutWidth, kKernelHeight,
                              kKernelWidth, kStrideHeight, kStrideWidth, kPadTop,   kPadLeft,
                              kDestination, kPitch,        kType,        kOutScale, kZeroPoint,
                              kRounding,    kParameters};
constexpr Id kTransposeFields[] = {kA, kAPitch, kType, kDestination, kPitch, kRows, kColumns};
constexpr Id kDepthwiseFields[] = {
    kSource,      kType,           kPixelPitch,    kWeights,      kWeightType,  kColumns,
    kAccumulator, kRows,           kFirstRow,      kHeight,       kWidth,       kOutHeight,
    kOutWidth,    kKernelHeight,   kKernelWidth,   kStrideHeight, kStrideWidth, kPadTop,
    kPadLeft,     kDilationHeight, kDilationWidth, kPadValue};

constexpr std::span<const Id> kNoFields;

/// A row's function: its instructions are this ISA's.
template <void (*kTouch)(const Instruction&, Footprint&)>
void touch(const command::Instruction& instruction, Footprint& footprint) {
    kTouch(static_cast<const Instruction&>(instruction), footprint);
}
template <std::string (*kCheck)(const Instruction&)>
std::string check(const command::Instruction& instruction) {
    return kCheck(static_cast<const Instruction&>(instruction));
}

constexpr OpcodeRow kOpcodeRows[] = {
    {Opcode::kNop, "nop", Queue::kSequencer, Time::kSequencer, 1, 4, "nothing", kNoFields},
    {Opcode::kHalt, "halt", Queue::kSequencer, Time::kSequencer, 1, 4,
     "waits until all queues are empty and ends the program", kNoFields},
    {Opcode::kSync, "sync", Queue::kSequencer, Time::kSequencer, 1, 4,
     "the sequencer itself waits; nothing after it is issued before", kNoFields},
    {Opcode::kInterruptHost, "interrupt_host", Queue::kSequencer, Time::kSequencer, 1, 4,
     "after its waits, tells the host a number; that of one of the program's host tasks: the host "
     "begins with it",
     kInterruptFields},
    {Opcode::kTag, "tag", Queue::kSequencer, Time::kSequencer, 1, 4,
     "instructions from here on belong to a step (a layer) of the program", kTagFields},
    {Opcode::kReadHost, "read_host", Queue::kLoad, Time::kTransfer, 1, 4,
     "host memory into the unified buffer", kReadHostFields, touch<touch_transfer_in>},
    {Opcode::kWriteHost, "write_host", Queue::kStore, Time::kTransfer, 1, 4,
     "unified buffer into host memory", kWriteHostFields, touch<touch_transfer_out>},
    {Opcode::kLoad, "load", Queue::kLoad, Time::kTransfer, 2, 4, "memory into the unified buffer",
     kLoadFields, touch<touch_transfer_in>},
    {Opcode::kStore, "store", Queue::kStore, Time::kTransfer, 2, 4, "unified buffer into memory",
     kStoreFields, touch<touch_transfer_out>},
    {Opcode::kGather, "gather", Queue::kLoad, Time::kTransfer, 2, 4,
     "rows of a table in memory, chosen by int32 indices in the unified buffer", kGatherFields,
     touch<touch_gather>},
    {Opcode::kReadWeights, "read_weights", Queue::kWeights, Time::kTile, 1, 4,
     "a weight tile into the FIFO of a matrix unit", kReadWeightsFields, touch<touch_read_weights>},
    {Opcode::kMatrixMultiply, "matrix_multiply", Queue::kMatrix0, Time::kStream, 1, 4,
     "rows x lanes of the unified buffer by the weight tile, into accumulators; os: onto the sums "
     "in "
     "the array; is: of the rows in the array, each column into a row of the accumulators",
     kMatrixMultiplyFields, touch<touch_matrix_multiply>, check<check_matrix_multiply>},
    {Opcode::kConvolve, "convolve", Queue::kMatrix0, Time::kStream, 1, 4,
     "`matrix_multiply`, where the data setup makes the rows from the windows of an NHWC image "
     "(im2col)",
     kConvolveFields, touch<touch_convolve>, check<check_convolve>},
    {Opcode::kActivate, "activate", Queue::kVector, Time::kElements, 1, 4,
     "accumulators, plus bias, times scale, plus addend, through a function, pooled, to the "
     "unified "
     "buffer",
     kActivateFields, touch<touch_activate>, check<check_activate>},
    {Opcode::kVector, "vector", Queue::kVector, Time::kElements, 1, 4,
     "element by element: then(function(a, b))", kVectorFields, touch<touch_vector>,
     check<check_vector>},
    {Opcode::kReduce, "reduce", Queue::kVector, Time::kReduction, 2, 4,
     "joins the values along an axis", kReduceFields, touch<touch_reduce>, check<check_reduce>},
    {Opcode::kPool, "pool", Queue::kVector, Time::kWindows, 1, 4,
     "pooling of NHWC images; one row of result an output pixel", kPoolFields, touch<touch_pool>,
     check<check_pool>},
    {Opcode::kTranspose, "transpose", Queue::kVector, Time::kTranspose, 2, 4,
     "columns x rows from rows x columns", kTransposeFields, touch<touch_transpose>},
    {Opcode::kDepthwise, "depthwise", Queue::kVector, Time::kWindows, 2, 4,
     "depthwise convolution of an NHWC image by the vector unit, into accumulators",
     kDepthwiseFields, touch<touch_depthwise>, check<check_depthwise>},
    {Opcode::kSyncHost, "sync_host", Queue::kSequencer, Time::kSequencer, 1, 4,
     "the sequencer itself waits until the host is done with its task of this number",
     kInterruptFields},
};

}  // namespace

const command::Description& description() {
    static constexpr command::Description kDescription{
        .name = "TPU",
        .source = "isa/tpu/table.cpp",
        .magic{"LOCKTPU\0", 8},
        .version = 2,
        .word_bytes = kWordBytes,
        .generations = kGenerations,
        .opcodes = kOpcodeRows,
        .fields = kFieldRows,
        .queues = kQueueNames,
        .spaces = kSpaceNames,
        .types = kTypes,
        .halt = Opcode::kHalt,
        .tag = Opcode::kTag,
        .interrupt_host = Opcode::kInterruptHost,
        .sync_host = Opcode::kSyncHost,
        .step = kStep,
        .code = kCode,
        .host = kHost,
        .unit_queue = Queue::kMatrix0,
        .unit = kUnit,
        .unordered_queue = Queue::kWeights,
    };
    return kDescription;
}

}  // namespace lockstep::tpu
