// SPDX-License-Identifier: Apache-2.0
// The fields of NPU instructions. Widths are as wide as any machine's SRAM and any network's shapes
// that we know of need.
#include <iterator>

#include "isa/npu/table.h"

namespace lockstep::npu {

namespace {

using enum Field;
using enum command::FieldKind;
constexpr auto kAddress = command::FieldKind::kHex;

constexpr std::string_view kTypes[] = {"int8", "uint8", "int4",  "uint4",
                                       "int2", "uint2", "int16", "int32"};
constexpr std::string_view kFormats[] = {"raw", "zero_runs", "mask", "palette", "palette_runs"};
constexpr std::string_view kRoundings[] = {"up", "away", "even", "double", "fp32"};
constexpr std::string_view kCombines[] = {"none",     "add",     "subtract",
                                          "multiply", "maximum", "minimum"};
constexpr std::string_view kForms[] = {"rescaled", "pair"};
constexpr std::string_view kBroadcasts[] = {"none", "channel", "pixel", "scalar"};
constexpr std::string_view kTables[] = {"none", "sum", "result"};
constexpr std::string_view kPools[] = {"none", "max", "average", "mean"};
constexpr std::string_view kReductions[] = {"sum", "max", "min"};
constexpr std::string_view kInterpolations[] = {
    "nearest",  "nearest_half_pixel",  "nearest_corners",
    "bilinear", "bilinear_half_pixel", "bilinear_corners"};

constexpr command::FieldRow kFieldRows[] = {
    {kWaitLoad, "wait_load", kUnsigned, 8, "wait for the d-th latest of `load`; 0: no wait"},
    {kWaitWeights, "wait_weights", kUnsigned, 8,
     "wait for the d-th latest of `weights`; 0: no wait"},
    {kWaitStore, "wait_store", kUnsigned, 8, "wait for the d-th latest of `store`; 0: no wait"},
    {kWaitCore0, "wait_core0", kUnsigned, 8, "wait for the d-th latest of `core0`; 0: no wait"},
    {kWaitCore1, "wait_core1", kUnsigned, 8, "wait for the d-th latest of `core1`; 0: no wait"},
    {kWaitCore2, "wait_core2", kUnsigned, 8, "wait for the d-th latest of `core2`; 0: no wait"},
    {kWaitCore3, "wait_core3", kUnsigned, 8, "wait for the d-th latest of `core3`; 0: no wait"},
    {kCode, "code", kUnsigned, 32, "number that the host gets; of a host task"},
    {kStep, "step", kUnsigned, 32, "index into the program's steps"},
    {kCore, "core", kUnsigned, 2, "the core that works"},
    {kHost, "host", kAddress, 40, "host address, bytes"},
    {kMemory, "memory", kAddress, 40, "memory address, bytes"},
    {kSource, "source", kAddress, 32, "SRAM address, bytes"},
    {kDestination, "destination", kAddress, 32, "SRAM address, bytes"},
    {kRowBytes, "row_bytes", kUnsigned, 24, "bytes of a row"},
    {kRows, "rows", kUnsigned, 24, "rows of a plane"},
    {kPlanes, "planes", kUnsigned, 16, "planes"},
    {kSourcePitch, "source_pitch", kUnsigned, 32, "bytes from row to row in the source"},
    {kSourcePlane, "source_plane", kUnsigned, 32, "bytes from plane to plane in the source"},
    {kDestinationPitch, "destination_pitch", kUnsigned, 32,
     "bytes from row to row in the destination"},
    {kDestinationPlane, "destination_plane", kUnsigned, 32,
     "bytes from plane to plane in the destination"},
    {kInput, "input", kAddress, 32, "SRAM address of the input"},
    {kInputType, "input_type", kName, 3, "element type of the input", kTypes},
    {kInputZero, "input_zero", kSigned, 9, "zero point of the input; what lies outside reads it"},
    {kHeight, "height", kUnsigned, 16, "rows of pixels of the input"},
    {kWidth, "width", kUnsigned, 16, "pixels of a row of the input"},
    {kChannels, "channels", kUnsigned, 16, "channels of the input"},
    {kInputRow, "input_row", kUnsigned, 24, "bytes from row to row of the input"},
    {kInputPixel, "input_pixel", kUnsigned, 24, "bytes from pixel to pixel of the input"},
    {kPadTop, "pad_top", kUnsigned, 8, "rows that are missing above"},
    {kPadLeft, "pad_left", kUnsigned, 8, "pixels that are missing on the left"},
    {kUpsampleHeight, "upsample_height", kUnsigned, 4,
     "rows of the window's image for each of the input, all but the first zero; 0 or 1: as it is"},
    {kUpsampleWidth, "upsample_width", kUnsigned, 4,
     "pixels of a row of the window's image for each of the input, all but the first zero; 0 or 1: "
     "as it is"},
    {kKernelHeight, "kernel_height", kUnsigned, 10, "height of the window"},
    {kKernelWidth, "kernel_width", kUnsigned, 10, "width of the window"},
    {kStrideHeight, "stride_height", kUnsigned, 8, "step of the window downwards"},
    {kStrideWidth, "stride_width", kUnsigned, 8, "step of the window to the right"},
    {kDilationHeight, "dilation_height", kUnsigned, 6, "rows from tap to tap of the window"},
    {kDilationWidth, "dilation_width", kUnsigned, 6, "pixels from tap to tap of the window"},
    {kDepthMultiplier, "depth_multiplier", kUnsigned, 8, "output channels for each of the input"},
    {kWeights, "weights", kAddress, 32, "SRAM address of the weight stream"},
    {kWeightBytes, "weight_bytes", kUnsigned, 24, "bytes of the weight stream"},
    {kWeightType, "weight_type", kName, 3, "element type of the weights: signed, 8 bits at most",
     kTypes},
    {kWeightFormat, "weight_format", kName, 3, "how the weight stream is compressed", kFormats},
    {kWeightGroup, "weight_group", kUnsigned, 10,
     "output channels that lie beside each other in the weight stream"},
    {kWeightZero, "weight_zero", kSigned, 9, "zero point of the weights"},
    {kAccumulate, "accumulate", kUnsigned, 1, "1: go on with the sums that the core keeps"},
    {kKeep, "keep", kUnsigned, 1, "1: the core keeps the sums; nothing is stored"},
    {kParameters, "parameters", kAddress, 32,
     "SRAM address of the output channels' parameters: int32 biases where has_bias, then int32 "
     "multipliers and 8-bit shifts where per_channel; of a mean: multipliers, then shifts, for "
     "each count of pixels from 1; of local_response: 145 unsigned 16-bit entries"},
    {kHasBias, "has_bias", kUnsigned, 1, "1: sums begin with the channel's bias"},
    {kPerChannel, "per_channel", kUnsigned, 1, "1: each channel has a multiplier and shift"},
    {kMultiplier, "multiplier", kSigned, 32, "of the sum, where not per_channel (fp32: its bits)"},
    {kShift, "shift", kUnsigned, 6, "the multiplier stands for 2^-shift times it; 1 to 62"},
    {kRounding, "rounding", kName, 3, "how scaled values are rounded", kRoundings},
    {kSumZero, "sum_zero", kSigned, 9, "zero point of the sum, where it is combined"},
    {kSumLow, "sum_low", kSigned, 9, "least value of the sum, where it is combined"},
    {kSumHigh, "sum_high", kSigned, 9, "greatest value of the sum, where it is combined"},
    {kCombine, "combine", kName, 3, "what is made of the value and the operand", kCombines},
    {kForm, "form", kName, 1, "how the two sides of a sum come to one scale", kForms},
    {kOperand, "operand", kAddress, 32, "SRAM address of the second operand"},
    {kOperandType, "operand_type", kName, 3, "element type of the operand", kTypes},
    {kOperandZero, "operand_zero", kSigned, 9, "zero point of the operand"},
    {kOperandRow, "operand_row", kUnsigned, 24, "bytes from row to row of the operand"},
    {kOperandPixel, "operand_pixel", kUnsigned, 24, "bytes from pixel to pixel of the operand"},
    {kBroadcast, "broadcast", kName, 2, "what of the operand is used for all", kBroadcasts},
    {kFirst, "first", kSigned, 32, "multiplier of the value in a sum"},
    {kFirstShift, "first_shift", kUnsigned, 6, "its shift; pair: of both"},
    {kSecond, "second", kSigned, 32, "multiplier of the operand in a sum"},
    {kSecondShift, "second_shift", kUnsigned, 6, "its shift"},
    {kLeftShift, "left_shift", kUnsigned, 5,
     "rescaled: both sides are shifted left by it first; softmax: differences are"},
    {kResultMultiplier, "result_multiplier", kSigned, 32, "of what was combined"},
    {kResultShift, "result_shift", kUnsigned, 6, "its shift"},
    {kTableAt, "table_at", kName, 2, "which value is looked up in the table", kTables},
    {kTable, "table", kAddress, 32,
     "SRAM address of 256 results, for the lowest value of the type up"},
    {kLow, "low", kSigned, 17, "least result"},
    {kHigh, "high", kSigned, 17, "greatest result"},
    {kOutput, "output", kAddress, 32, "SRAM address of the result"},
    {kOutputType, "output_type", kName, 3, "element type of the result; int32: sums as they are",
     kTypes},
    {kOutputZero, "output_zero", kSigned, 9, "zero point of the result"},
    {kOutHeight, "out_height", kUnsigned, 16, "rows of windows"},
    {kOutWidth, "out_width", kUnsigned, 16, "windows of a row"},
    {kOutChannels, "out_channels", kUnsigned, 16, "channels of the result"},
    {kOutputRow, "output_row", kUnsigned, 24, "bytes from row to row of the result"},
    {kOutputPixel, "output_pixel", kUnsigned, 24, "bytes from pixel to pixel of the result"},
    {Field::kPool, "pool", kName, 2, "pooling", kPools},
    {kPoolHeight, "pool_height", kUnsigned, 4, "height of the pooling window"},
    {kPoolWidth, "pool_width", kUnsigned, 4, "width of the pooling window"},
    {kPoolStrideHeight, "pool_stride_height", kUnsigned, 4, "step of that window downwards"},
    {kPoolStrideWidth, "pool_stride_width", kUnsigned, 4, "step of that window to the right"},
    {kPoolPads, "pool_pads", kAddress, 16,
     "what is missing above, left, below, right: 4 bits each from the lowest"},
    {kTransposed, "transposed", kUnsigned, 1, "1: the operand has a row for each output channel"},
    {kReduction, "reduction", kName, 2, "how the channels of a pixel are joined", kReductions},
    {kBefore, "before", kUnsigned, 3, "channels before each that belong to its neighbourhood"},
    {kAfter, "after", kUnsigned, 3, "channels after it that do"},
    {kDifferenceMin, "difference_min", kSigned, 32,
     "softmax: values further below the greatest give the least result"},
    {kInterpolation, "interpolation", kName, 3, "how a resized image is made", kInterpolations},
    {kResultFirst, "result_first", kUnsigned, 16,
     "row of the whole result that the first row of this one is"},
    {kResultHeight, "result_height", kUnsigned, 16, "rows of the whole result; 0: out_height"},
    {kInputFirst, "input_first", kUnsigned, 16,
     "row of the whole image that the first row of the input is"},
    {kInputHeight, "input_height", kUnsigned, 16, "rows of the whole image; 0: height"},
    {kValue, "value", kUnsigned, 8, "the byte that is written"},
};
static_assert(std::size(kFieldRows) == kFields && kFields <= command::kMaxFields);

}  // namespace

std::span<const command::FieldRow> field_rows() {
    return kFieldRows;
}

}  // namespace lockstep::npu
