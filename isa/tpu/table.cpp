// SPDX-License-Identifier: Apache-2.0
// The TPU's instructions. The five key ones and their operands follow Jouppi et al., ISCA 2017,
// section 2; widths are generous, because the paper's 12-byte encoding is not public. A field's
// place follows from the order of a row's fields, so fields cannot overlap.
#include "isa/tpu/table.h"

#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

using enum Field;
using enum FieldKind;

constexpr std::string_view kQueueNames[] = {"load",    "store",   "weights", "matrix0",  "matrix1",
                                            "matrix2", "matrix3", "vector",  "sequencer"};
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
    {kWaitStore, "wait_store", kUnsigned, 8, "likewise `store`"},
    {kWaitWeights, "wait_weights", kUnsigned, 8, "likewise `weights`"},
    {kWaitMatrix0, "wait_matrix0", kUnsigned, 8, "likewise `matrix0`"},
    {kWaitMatrix1, "wait_matrix1", kUnsigned, 8, "likewise `matrix1`"},
    {kWaitMatrix2, "wait_matrix2", kUnsigned, 8, "likewise `matrix2`"},
    {kWaitMatrix3, "wait_matrix3", kUnsigned, 8, "likewise `matrix3`"},
    {kWaitVector, "wait_vector", kUnsigned, 8, "likewise `vector`"},
    {kCode, "code", kUnsigned, 32, "number that the host gets; of a host task"},
    {kStep, "step", kUnsigned, 32, "index into the program's steps"},
    {kUnit, "unit", kUnsigned, 2, "matrix unit"},
    {kHost, "host", kUnsigned, 48, "host address, bytes"},
    {kMemory, "memory", kUnsigned, 48, "memory address, bytes"},
    {kSource, "source", kUnsigned, 32, "unified buffer address, bytes"},
    {kDestination, "destination", kUnsigned, 32, "unified buffer address, bytes"},
    {kIndices, "indices", kUnsigned, 32, "unified buffer address of one int32 a row"},
    {kRows, "rows", kUnsigned, 24, "rows"},
    {kRowBytes, "row_bytes", kUnsigned, 32, "bytes of a row"},
    {kSourcePitch, "source_pitch", kUnsigned, 32, "bytes from row to row in the source"},
    {kDestinationPitch, "destination_pitch", kUnsigned, 32,
     "bytes from row to row in the destination"},
    {kFrom, "from", kName, 1, "space that the tile is read from", kWeightSources},
    {kAddress, "address", kUnsigned, 48, "address of the tile in `from`, bytes"},
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
    {kParameters, "parameters", kUnsigned, 32,
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
    {kAddend, "addend", kUnsigned, 32, "unified buffer address, bytes"},
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
    {kA, "a", kUnsigned, 32, "unified buffer address of operand a"},
    {kAPitch, "a_pitch", kUnsigned, 32, "bytes from row to row of a"},
    {kAType, "a_type", kName, 4, "element type of a", kTypes},
    {kAScale, "a_scale", kFloat, 32, "factor of a"},
    {kAZero, "a_zero", kSigned, 12, "subtracted from a first"},
    {kB, "b", kUnsigned, 32, "unified buffer address of operand b"},
    {kBPitch, "b_pitch", kUnsigned, 32, "bytes from row to row of b"},
    {kBType, "b_type", kName, 4, "element type of b", kTypes},
    {kBScale, "b_scale", kFloat, 32, "factor of b"},
    {kBZero, "b_zero", kSigned, 12, "subtracted from b first"},
    {kBroadcast, "broadcast", kName, 2, "how b is spread", kBroadcasts},
    {kImmediate, "immediate", kFloat, 32, "operand b where broadcast=immediate"},
    {kReduction, "reduction", kName, 3, "how values are joined", kReductions},
    {kAxis, "axis", kName, 1, "the axis that goes away", kAxes},
    {kWeights, "weights", kUnsigned, 32, "unified buffer address of [ky][kx][channel] weights"},
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
static_assert(std::size(kFieldRows) == kFields);
static_assert([] {
    for (std::size_t i = 0; i < kFields; ++i)
        if (kFieldRows[i].field != static_cast<Field>(i)) return false;
    return true;
}());

constexpr Field kNone[] = {kWaitLoad};  // a place for spans of length 0
constexpr Field kInterruptFields[] = {kCode};
constexpr Field kTagFields[] = {kStep};
constexpr Field kReadHostFields[] = {kHost,     kDestination, kRows,
                                     kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Field kWriteHostFields[] = {kSource,   kHost,        kRows,
                                      kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Field kLoadFields[] = {kMemory,   kDestination, kRows,
                                 kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Field kStoreFields[] = {kSource,   kMemory,      kRows,
                                  kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Field kGatherFields[] = {kMemory,   kIndices,     kDestination,     kRows,
                                   kRowBytes, kSourcePitch, kDestinationPitch};
constexpr Field kReadWeightsFields[] = {kUnit,  kFrom,    kAddress,    kPitch,
                                        kLanes, kColumns, kTransposed, kWeightType};
constexpr Field kMatrixMultiplyFields[] = {
    kUnit,       kSource,        kPitch, kRows,       kLanes,    kColumns,      kAccumulator,
    kAccumulate, kSwitchWeights, kType,  kWeightType, kDataflow, kSwitchInputs, kUnload};
constexpr Field kConvolveFields[] = {
    kUnit,           kSource,        kPixelPitch,    kRows,        kLanes,        kColumns,
    kAccumulator,    kAccumulate,    kSwitchWeights, kType,        kWeightType,   kFirstRow,
    kFirstLane,      kHeight,        kWidth,         kChannels,    kOutHeight,    kOutWidth,
    kKernelHeight,   kKernelWidth,   kStrideHeight,  kStrideWidth, kPadTop,       kPadLeft,
    kDilationHeight, kDilationWidth, kPadValue,      kDataflow,    kSwitchInputs, kUnload};
constexpr Field kActivateFields[] = {
    kAccumulator, kAccumulatorType, kRows,        kColumns,       kDestination,  kPitch,
    kType,        kFunction,        kParameters,  kHasBias,       kHasScales,    kScale,
    kOutScale,    kZeroPoint,       kHasAddend,   kAddend,        kAddendPitch,  kAddendType,
    kAddendScale, kAddendZero,      Field::kPool, kHeight,        kWidth,        kPoolKernel,
    kPoolStride,  kPoolPadTop,      kPoolPadLeft, kPoolPadBottom, kPoolPadRight, kRounding,
    kFirst,       kSecond,          kShift,       kSumZero,       kHasTable,     kTable,
    kTransposed};
constexpr Field kVectorFields[] = {
    kFunction,    kThen,   kA,      kAPitch,   kAType,     kAScale,    kAZero,
    kB,           kBPitch, kBType,  kBScale,   kBZero,     kBroadcast, kImmediate,
    kDestination, kPitch,  kType,   kOutScale, kZeroPoint, kRows,      kColumns,
    kRounding,    kFirst,  kSecond, kShift,    kHasTable,  kTable};
constexpr Field kReduceFields[] = {kReduction, kAxis,      kA,           kAPitch, kAType,
                                   kAScale,    kAZero,     kDestination, kPitch,  kType,
                                   kOutScale,  kZeroPoint, kRows,        kColumns};
constexpr Field kPoolFields[] = {
    Field::kPool, kCountPad,     kA,           kAType,    kAScale,
    kAZero,       kPixelPitch,   kColumns,     kRows,     kFirstRow,
    kHeight,      kWidth,        kOutHeight,   kOutWidth, kKernelHeight,
    kKernelWidth, kStrideHeight, kStrideWidth, kPadTop,   kPadLeft,
    kDestination, kPitch,        kType,        kOutScale, kZeroPoint,
    kRounding,    kParameters};
constexpr Field kTransposeFields[] = {kA, kAPitch, kType, kDestination, kPitch, kRows, kColumns};
constexpr Field kDepthwiseFields[] = {
    kSource,      kType,           kPixelPitch,    kWeights,      kWeightType,  kColumns,
    kAccumulator, kRows,           kFirstRow,      kHeight,       kWidth,       kOutHeight,
    kOutWidth,    kKernelHeight,   kKernelWidth,   kStrideHeight, kStrideWidth, kPadTop,
    kPadLeft,     kDilationHeight, kDilationWidth, kPadValue};

constexpr std::span<const Field> kNoFields(kNone, 0);
constexpr OpcodeRow kOpcodeRows[] = {
    {Opcode::kNop, "nop", Queue::kSequencer, 1, 4, "nothing", kNoFields},
    {Opcode::kHalt, "halt", Queue::kSequencer, 1, 4,
     "waits until all queues are empty and ends the program", kNoFields},
    {Opcode::kSync, "sync", Queue::kSequencer, 1, 4,
     "the sequencer itself waits; nothing after it is issued before", kNoFields},
    {Opcode::kInterruptHost, "interrupt_host", Queue::kSequencer, 1, 4,
     "after its waits, tells the host a number; that of one of the program's host tasks: the host "
     "begins with it",
     kInterruptFields},
    {Opcode::kTag, "tag", Queue::kSequencer, 1, 4,
     "instructions from here on belong to a step (a layer) of the program", kTagFields},
    {Opcode::kReadHost, "read_host", Queue::kLoad, 1, 4, "host memory into the unified buffer",
     kReadHostFields},
    {Opcode::kWriteHost, "write_host", Queue::kStore, 1, 4, "unified buffer into host memory",
     kWriteHostFields},
    {Opcode::kLoad, "load", Queue::kLoad, 2, 4, "memory into the unified buffer", kLoadFields},
    {Opcode::kStore, "store", Queue::kStore, 2, 4, "unified buffer into memory", kStoreFields},
    {Opcode::kGather, "gather", Queue::kLoad, 2, 4,
     "rows of a table in memory, chosen by int32 indices in the unified buffer", kGatherFields},
    {Opcode::kReadWeights, "read_weights", Queue::kWeights, 1, 4,
     "a weight tile into the FIFO of a matrix unit", kReadWeightsFields},
    {Opcode::kMatrixMultiply, "matrix_multiply", Queue::kMatrix0, 1, 4,
     "rows x lanes of the unified buffer by the weight tile, into accumulators; os: onto the sums "
     "in "
     "the array; is: of the rows in the array, each column into a row of the accumulators",
     kMatrixMultiplyFields},
    {Opcode::kConvolve, "convolve", Queue::kMatrix0, 1, 4,
     "likewise, where the data setup makes the rows from the windows of an NHWC image (im2col)",
     kConvolveFields},
    {Opcode::kActivate, "activate", Queue::kVector, 1, 4,
     "accumulators, plus bias, times scale, plus addend, through a function, pooled, to the "
     "unified "
     "buffer",
     kActivateFields},
    {Opcode::kVector, "vector", Queue::kVector, 1, 4, "element by element: then(function(a, b))",
     kVectorFields},
    {Opcode::kReduce, "reduce", Queue::kVector, 2, 4, "joins the values along an axis",
     kReduceFields},
    {Opcode::kPool, "pool", Queue::kVector, 1, 4,
     "pooling of NHWC images; one row of result an output pixel", kPoolFields},
    {Opcode::kTranspose, "transpose", Queue::kVector, 2, 4, "columns x rows from rows x columns",
     kTransposeFields},
    {Opcode::kDepthwise, "depthwise", Queue::kVector, 2, 4,
     "depthwise convolution of an NHWC image by the vector unit, into accumulators",
     kDepthwiseFields},
    {Opcode::kSyncHost, "sync_host", Queue::kSequencer, 1, 4,
     "the sequencer itself waits until the host is done with its task of this number",
     kInterruptFields},
};

}  // namespace

std::span<const OpcodeRow> opcode_table() {
    return kOpcodeRows;
}
std::span<const FieldRow> field_table() {
    return kFieldRows;
}
std::span<const std::string_view> queue_names() {
    return kQueueNames;
}
std::span<const std::string_view> space_names() {
    return kSpaceNames;
}

const OpcodeRow* find_row(std::uint8_t opcode) {
    return opcode < std::size(kOpcodeRows) ? &kOpcodeRows[opcode] : nullptr;
}

const OpcodeRow& row(Opcode opcode) {
    const OpcodeRow* found = find_row(static_cast<std::uint8_t>(opcode));
    LOCKSTEP_CHECK(found != nullptr, "no opcode {}", static_cast<int>(opcode));
    return *found;
}

bool has_field(Opcode opcode, Field field) {
    if (field <= kWaitVector) return true;
    for (const Field candidate : row(opcode).fields)
        if (candidate == field) return true;
    return false;
}

}  // namespace lockstep::tpu
