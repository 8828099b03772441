// SPDX-License-Identifier: Apache-2.0
// The instruction set as data: opcodes, fields, their place in the word. All that reads or writes
// instructions (encoder, assembler, reference page) walks these tables.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "isa/tpu/enums.h"

namespace lockstep::tpu {

/// Every field that some instruction has. The first eight are the waits, in the order of Queue.
enum class Field : std::uint8_t {
    kWaitLoad,
    kWaitStore,
    kWaitWeights,
    kWaitMatrix0,
    kWaitMatrix1,
    kWaitMatrix2,
    kWaitMatrix3,
    kWaitVector,
    kCode,
    kStep,
    kUnit,
    kHost,
    kMemory,
    kSource,
    kDestination,
    kIndices,
    kRows,
    kRowBytes,
    kSourcePitch,
    kDestinationPitch,
    kFrom,
    kAddress,
    kLanes,
    kColumns,
    kPitch,
    kTransposed,
    kType,
    kWeightType,
    kAccumulator,
    kAccumulatorType,
    kAccumulate,
    kSwitchWeights,
    kFirstRow,
    kFirstLane,
    kHeight,
    kWidth,
    kPixelPitch,
    kChannels,
    kOutHeight,
    kOutWidth,
    kKernelHeight,
    kKernelWidth,
    kStrideHeight,
    kStrideWidth,
    kPadTop,
    kPadLeft,
    kDilationHeight,
    kDilationWidth,
    kPadValue,
    kParameters,
    kHasBias,
    kHasScales,
    kFunction,
    kThen,
    kScale,
    kOutScale,
    kZeroPoint,
    kHasAddend,
    kAddend,
    kAddendPitch,
    kAddendType,
    kAddendScale,
    kAddendZero,
    kPool,
    kPoolKernel,
    kPoolStride,
    kPoolPadTop,
    kPoolPadLeft,
    kPoolPadBottom,
    kPoolPadRight,
    kCountPad,
    kA,
    kAPitch,
    kAType,
    kAScale,
    kAZero,
    kB,
    kBPitch,
    kBType,
    kBScale,
    kBZero,
    kBroadcast,
    kImmediate,
    kReduction,
    kAxis,
    kWeights,
    kRounding,
    kFirst,
    kSecond,
    kShift,
    kSumZero,
    kHasTable,
    kTable,
    kDataflow,
    kSwitchInputs,
    kUnload,
};
inline constexpr std::size_t kFields = static_cast<std::size_t>(Field::kUnload) + 1;

enum class FieldKind : std::uint8_t { kUnsigned, kSigned, kFloat, kName };

struct FieldRow {
    Field field;
    std::string_view name;
    FieldKind kind;
    std::uint8_t width;  ///< bits
    std::string_view meaning;
    std::span<const std::string_view> names = {};  ///< of a kName
};

struct OpcodeRow {
    Opcode opcode;
    std::string_view mnemonic;
    Queue queue;  ///< kMatrix0 stands for the queue of `unit`
    std::uint8_t first_generation, last_generation;
    std::string_view meaning;
    std::span<const Field> fields;  ///< from bit kFirstFieldBit on, without gaps; without waits
};

inline constexpr std::uint32_t kWordBytes = 80;
inline constexpr std::uint32_t kWordBits = kWordBytes * 8;
inline constexpr std::uint32_t kFirstFieldBit = 72;
inline constexpr int kGenerations = 4;

std::span<const OpcodeRow> opcode_table();
std::span<const FieldRow> field_table();  ///< indexed by Field
std::span<const std::string_view> queue_names();
std::span<const std::string_view> space_names();

inline const FieldRow& row(Field field) {
    return field_table()[static_cast<std::size_t>(field)];
}
/// The row of an opcode, or nullptr where the number means none.
const OpcodeRow* find_row(std::uint8_t opcode);
const OpcodeRow& row(Opcode opcode);
/// Whether instructions of this opcode have the field (waits: all have).
bool has_field(Opcode opcode, Field field);

/// The reference page (instructions.md), Markdown.
std::string reference_page();

}  // namespace lockstep::tpu
