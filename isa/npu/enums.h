// SPDX-License-Identifier: Apache-2.0
// The closed sets of the NPU instruction set. Opcodes and fields are lines of instructions.table;
// the names of the others in programs are in table.cpp, in this order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::npu {

enum class Opcode : std::uint8_t {
#define OPCODE(name, ...) name,
#include "isa/npu/instructions.table"
};

/// Every field that some instruction has. The first are the waits, in the order of Queue.
enum class Field : std::uint8_t {
#define FIELD(name, ...) name,
#include "isa/npu/instructions.table"
};

/// How long an instruction takes is told by its class, and by its fields.
enum class Time : std::uint8_t {
    kSequencer,   ///< what the sequencer does itself
    kTransfer,    ///< DMA
    kArray,       ///< the MAC array, its results through the output pipeline
    kElements,    ///< the output pipeline alone, element by element
    kWindows,     ///< the output pipeline's pooling stage
    kRows,        ///< several passes over the channels of each pixel (softmax)
    kNeighbours,  ///< the unit for sums over neighbouring channels
    kMove,        ///< bytes within the SRAM
};

/// Where an instruction waits and works. A queue works in order.
enum class Queue : std::uint8_t {
    kLoad,     ///< DMA into the SRAM
    kWeights,  ///< DMA into the SRAM, beside `load`: for weights, tables, parameters
    kStore,    ///< DMA out of the SRAM
    kCore0,
    kCore1,
    kCore2,
    kCore3,
    kSequencer,  ///< not a queue: done by the sequencer itself
};
inline constexpr std::size_t kQueues = 7;
inline constexpr std::uint32_t kMaxCores = 4;

/// Host memory and memory are parts of one DRAM, which the host's processor shares: `host` is what
/// the host may touch while the program runs.
enum class Space : std::uint8_t { kHost, kMemory, kSram };
inline constexpr std::size_t kSpaces = 3;

/// Of the values of tensors. Those of less than 8 bits are packed, the first in the lowest bits;
/// the channels of a pixel begin at a byte.
enum class ElementType : std::uint8_t {
    kInt8,
    kUint8,
    kInt4,
    kUint4,
    kInt2,
    kUint2,
    kInt16,
    kInt32
};
inline constexpr std::uint32_t bits_of(ElementType type) {
    constexpr std::uint32_t kBits[] = {8, 8, 4, 4, 2, 2, 16, 32};
    return kBits[static_cast<std::size_t>(type)];
}
inline constexpr bool is_signed(ElementType type) {
    return type != ElementType::kUint8 && type != ElementType::kUint4 &&
           type != ElementType::kUint2;
}
/// The bytes of so many values that are packed.
inline constexpr std::uint64_t packed_bytes(std::uint64_t count, ElementType type) {
    return (count * bits_of(type) + 7) / 8;
}

/// How weights lie in their stream: isa/npu/weights.h.
enum class WeightFormat : std::uint8_t { kRaw, kZeroRuns, kMask, kPalette, kPaletteRuns };

/// Results in integers are multiplier * 2^-shift times the sum. The first four are
/// sim/numerics/requantise.h's, one way of rounding each.
enum class Rounding : std::uint8_t {
    kUp,      ///< once, ties toward plus infinity (TensorFlow Lite's single rounding)
    kAway,    ///< once, ties away from zero
    kEven,    ///< once, ties to even
    kDouble,  ///< twice, ties away from zero (TensorFlow Lite's reference, gemmlowp)
    kFp32,    ///< the multiplier is an fp32 factor: one fp32 product, ties to even (ONNX)
};

/// What is made of a first and a second operand.
enum class Combine : std::uint8_t { kNone, kAdd, kSubtract, kMultiply, kMaximum, kMinimum };
/// How the operands of a sum are brought to one scale.
enum class Form : std::uint8_t {
    kRescaled,  ///< each is rounded by itself, then their sum (TensorFlow Lite)
    kPair,      ///< products are added, then rounded once
};
enum class Broadcast : std::uint8_t {
    kNone,
    kChannel,  ///< one pixel, for all
    kPixel,    ///< one channel, for all
    kScalar,   ///< one value
};
/// Where the 256 entries of the table are applied.
enum class TableAt : std::uint8_t { kNone, kSum, kResult };
enum class PoolMode : std::uint8_t { kNone, kMax, kAverage, kMean };
enum class Reduction : std::uint8_t { kSum, kMax, kMin };
enum class Interpolation : std::uint8_t {
    kNearest,
    kNearestHalfPixel,
    kNearestCorners,
    kBilinear,
    kBilinearHalfPixel,
    kBilinearCorners,
};

}  // namespace lockstep::npu
