// SPDX-License-Identifier: Apache-2.0
// The NPU's instructions. What one command does follows what NVDLA's convolution core, single point
// and planar data processors do in one pass (nvdla.org, unit description) and Arm's Ethos-U in one
// of its NPU_OP commands with the registers before it (Ethos-U55 technical reference); the encoding
// is Lockstep's own.
#include "isa/npu/table.h"

#include <array>

#include "isa/npu/footprint.h"
#include "isa/npu/operands.h"

namespace lockstep::npu {

namespace {

using enum Field;
using command::Id;
using command::OpcodeRow;

constexpr std::string_view kQueueNames[] = {"load",  "weights", "store", "core0",
                                            "core1", "core2",   "core3", "sequencer"};
constexpr std::string_view kSpaceNames[] = {"host", "memory", "sram"};
/// Of buffers: those of narrow integers are int8.
constexpr std::string_view kBufferTypes[] = {"int8", "uint8", "int16", "int32", "bf16", "fp32"};

/// Fields of several lists, in order.
template <std::size_t... sizes>
constexpr auto join(const std::array<Id, sizes>&... lists) {
    std::array<Id, (sizes + ...)> all{};
    std::size_t at = 0;
    const auto append = [&](const auto& list) {
        for (const Id id : list) all[at++] = id;
    };
    (append(lists), ...);
    return all;
}
template <typename... Fields>
constexpr auto list(Fields... fields) {
    return std::array<Id, sizeof...(fields)>{Id(fields)...};
}

constexpr auto kInput8 =
    list(kInput, kInputType, kInputZero, kHeight, kWidth, kChannels, kInputRow, kInputPixel);
constexpr auto kOutput5 = list(kOutput, kOutputType, kOutputZero, kOutputRow, kOutputPixel);
constexpr auto kWindow = list(kKernelHeight, kKernelWidth, kStrideHeight, kStrideWidth, kPadTop,
                              kPadLeft, kOutHeight, kOutWidth);
constexpr auto kTaps = list(kDilationHeight, kDilationWidth, kUpsampleHeight, kUpsampleWidth);
constexpr auto kStream = list(kOutChannels, kWeights, kWeightBytes, kWeightType, kWeightFormat,
                              kWeightGroup, kWeightZero);
constexpr auto kSum = list(kParameters, kHasBias, kPerChannel, kMultiplier, kShift, kRounding);
constexpr auto kKept = list(kAccumulate, kKeep, kSumZero, kSumLow, kSumHigh);
constexpr auto kCombination = list(
    kCombine, kForm, kOperand, kOperandType, kOperandZero, kOperandRow, kOperandPixel, kBroadcast,
    kFirst, kFirstShift, kSecond, kSecondShift, kLeftShift, kResultMultiplier, kResultShift);
constexpr auto kResult = list(kTableAt, kTable, kLow, kHigh);
constexpr auto kFusedPool =
    list(Field::kPool, kPoolHeight, kPoolWidth, kPoolStrideHeight, kPoolStrideWidth, kPoolPads);
constexpr auto kPlanesOf = list(kRowBytes, kRows, kPlanes);
constexpr auto kFrom = list(kSourcePitch, kSourcePlane);
constexpr auto kTo = list(kDestinationPitch, kDestinationPlane);

constexpr auto kInterruptFields = list(kCode);
constexpr auto kTagFields = list(kStep);
constexpr auto kReadHostFields = join(list(kHost, kDestination), kPlanesOf, kFrom, kTo);
constexpr auto kWriteHostFields = join(list(kSource, kHost), kPlanesOf, kFrom, kTo);
constexpr auto kLoadFields = join(list(kMemory, kDestination), kPlanesOf, kFrom, kTo);
constexpr auto kStoreFields = join(list(kSource, kMemory), kPlanesOf, kFrom, kTo);
constexpr auto kCopyFields = join(list(kCore, kSource, kDestination), kPlanesOf, kFrom, kTo);
constexpr auto kFillFields = join(list(kCore, kDestination, kValue), kPlanesOf, kTo);
constexpr auto kConvolveFields = join(list(kCore), kInput8, kWindow, kTaps, kStream, kKept, kSum,
                                      kCombination, kResult, kOutput5, kFusedPool);
constexpr auto kDepthwiseFields = join(kConvolveFields, list(kDepthMultiplier));
constexpr auto kMatrixMultiplyFields =
    join(list(kCore), kInput8,
         list(kOperand, kOperandType, kOperandZero, kOperandRow, kTransposed, kOutChannels), kSum,
         kResult, kOutput5);
constexpr auto kElementwiseFields =
    join(list(kCore), kInput8, kCombination, list(kRounding), kResult, kOutput5);
constexpr auto kPoolFields = join(list(kCore, Field::kPool), kInput8, kWindow,
                                  list(kParameters, kRounding), kResult, kOutput5);
constexpr auto kReduceFields =
    join(list(kCore, kReduction), kInput8, list(kResultMultiplier, kResultShift, kRounding),
         kResult, kOutput5);
constexpr auto kSoftmaxFields =
    join(list(kCore), kInput8, list(kMultiplier, kLeftShift, kDifferenceMin), kOutput5);
constexpr auto kLocalResponseFields =
    join(list(kCore, kBefore, kAfter), kInput8,
         list(kParameters, kResultMultiplier, kResultShift, kRounding), kResult, kOutput5);
constexpr auto kResizeFields = join(list(kCore), kInput8,
                                    list(kInterpolation, kOutHeight, kOutWidth, kResultFirst,
                                         kResultHeight, kInputFirst, kInputHeight, kRounding),
                                    kOutput5);

constexpr std::span<const Id> kNoFields;

/// A row's function: its instructions are this ISA's.
template <void (*kTouch)(const Instruction&, command::Footprint&)>
void touch(const command::Instruction& instruction, command::Footprint& footprint) {
    kTouch(static_cast<const Instruction&>(instruction), footprint);
}
template <std::string (*kCheck)(const Instruction&)>
std::string check(const command::Instruction& instruction) {
    return kCheck(static_cast<const Instruction&>(instruction));
}

constexpr OpcodeRow kOpcodeRows[] = {
    {Opcode::kNop, "nop", Queue::kSequencer, Time::kSequencer, 1, 1, "nothing", kNoFields},
    {Opcode::kHalt, "halt", Queue::kSequencer, Time::kSequencer, 1, 1,
     "waits until all queues are empty and ends the program", kNoFields},
    {Opcode::kSync, "sync", Queue::kSequencer, Time::kSequencer, 1, 1,
     "the sequencer itself waits; nothing after it is issued before", kNoFields},
    {Opcode::kInterruptHost, "interrupt_host", Queue::kSequencer, Time::kSequencer, 1, 1,
     "after its waits, tells the host a number; that of one of the program's host tasks: the host "
     "begins with it",
     kInterruptFields},
    {Opcode::kSyncHost, "sync_host", Queue::kSequencer, Time::kSequencer, 1, 1,
     "the sequencer itself waits until the host is done with its task of this number",
     kInterruptFields},
    {Opcode::kTag, "tag", Queue::kSequencer, Time::kSequencer, 1, 1,
     "instructions from here on belong to a step (a layer) of the program", kTagFields},
    {Opcode::kReadHost, "read_host", Queue::kLoad, Time::kTransfer, 1, 1,
     "host memory into the SRAM", kReadHostFields, touch<touch_transfer_in>},
    {Opcode::kWriteHost, "write_host", Queue::kStore, Time::kTransfer, 1, 1,
     "SRAM into host memory", kWriteHostFields, touch<touch_transfer_out>},
    {Opcode::kLoad, "load", Queue::kLoad, Time::kTransfer, 1, 1, "memory into the SRAM",
     kLoadFields, touch<touch_transfer_in>},
    {Opcode::kLoadWeights, "load_weights", Queue::kWeights, Time::kTransfer, 1, 1,
     "memory into the SRAM, beside what `load` moves", kLoadFields, touch<touch_transfer_in>},
    {Opcode::kStore, "store", Queue::kStore, Time::kTransfer, 1, 1, "SRAM into memory",
     kStoreFields, touch<touch_transfer_out>},
    {Opcode::kConvolve, "convolve", Queue::kCore0, Time::kArray, 1, 1,
     "convolution of an image, plus bias, requantised, combined with the operand, looked up or "
     "clamped, pooled",
     kConvolveFields, touch<touch_convolve>, check<check_convolve>},
    {Opcode::kDepthwise, "depthwise", Queue::kCore0, Time::kArray, 1, 1,
     "`convolve`, where each output channel sees one channel of the input", kDepthwiseFields,
     touch<touch_convolve>, check<check_convolve>},
    {Opcode::kMatrixMultiply, "matrix_multiply", Queue::kCore0, Time::kArray, 1, 1,
     "the channels of each pixel by a matrix in the SRAM (channels x out_channels), plus bias, "
     "requantised, looked up or clamped",
     kMatrixMultiplyFields, touch<touch_matrix_multiply>, check<check_matrix_multiply>},
    {Opcode::kElementwise, "elementwise", Queue::kCore0, Time::kElements, 1, 1,
     "element by element: combined with the operand (none: rescaled), looked up or clamped",
     kElementwiseFields, touch<touch_elementwise>, check<check_elementwise>},
    {Opcode::kPool, "pool", Queue::kCore0, Time::kWindows, 1, 1, "pooling by windows", kPoolFields,
     touch<touch_pool>, check<check_pool>},
    {Opcode::kReduce, "reduce", Queue::kCore0, Time::kElements, 1, 1,
     "joins the channels of each pixel into one", kReduceFields, touch<touch_reduce>,
     check<check_reduce>},
    {Opcode::kSoftmax, "softmax", Queue::kCore0, Time::kRows, 1, 1,
     "softmax over the channels of each pixel, as TensorFlow Lite's int8 reference", kSoftmaxFields,
     touch<touch_softmax>, check<check_softmax>},
    {Opcode::kResize, "resize", Queue::kCore0, Time::kWindows, 1, 1,
     "an image of another size, as TensorFlow Lite's integer reference; or some rows of one, from "
     "the "
     "rows of the input that they need",
     kResizeFields, touch<touch_resize>, check<check_resize>},
    {Opcode::kCopy, "copy", Queue::kCore0, Time::kMove, 1, 1, "SRAM into SRAM", kCopyFields,
     touch<touch_copy>, check<check_copy>},
    {Opcode::kFill, "fill", Queue::kCore0, Time::kMove, 1, 1, "writes a byte into the SRAM",
     kFillFields, touch<touch_copy>, check<check_copy>},
    {Opcode::kLocalResponse, "local_response", Queue::kCore0, Time::kNeighbours, 1, 1,
     "local response normalisation: each value times a function, by table, of the sum of the "
     "squares of its channel's neighbours",
     kLocalResponseFields, touch<touch_local_response>, check<check_local_response>},
};

}  // namespace

const command::Description& description() {
    static const command::Description kDescription{
        .name = "NPU",
        .source = "isa/npu/table.cpp",
        .magic{"LOCKNPU\0", 8},
        .version = 1,
        .word_bytes = kWordBytes,
        .generations = 1,
        .opcodes = kOpcodeRows,
        .fields = field_rows(),
        .queues = kQueueNames,
        .spaces = kSpaceNames,
        .types = kBufferTypes,
        .halt = Opcode::kHalt,
        .tag = Opcode::kTag,
        .interrupt_host = Opcode::kInterruptHost,
        .sync_host = Opcode::kSyncHost,
        .step = kStep,
        .code = kCode,
        .host = kHost,
        .unit_queue = Queue::kCore0,
        .unit = kCore,
        .unordered_queue = Queue::kSequencer,  // none
    };
    return kDescription;
}

}  // namespace lockstep::npu
