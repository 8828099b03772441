// SPDX-License-Identifier: Apache-2.0
// The closed sets of the TPU instruction set. Opcodes, fields and functions are lines of
// instructions.table; the names of the others in programs are in table.cpp, in this order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa/command/types.h"

namespace lockstep::tpu {

enum class Opcode : std::uint8_t {
#define OPCODE(name, ...) name,
#include "isa/tpu/instructions.table"
};

/// Every field that some instruction has. The first are the waits, in the order of Queue.
enum class Field : std::uint8_t {
#define FIELD(name, ...) name,
#include "isa/tpu/instructions.table"
};

/// How long an instruction takes is told by its class, and by its fields.
enum class Time : std::uint8_t {
    kSequencer,  ///< what the sequencer does itself
    kTransfer,   ///< rows of bytes between a memory and the unified buffer
    kTile,       ///< a weight tile on its way to an array
    kStream,     ///< rows stream through an array
    kElements,   ///< the vector unit, element by element
    kWindows,    ///< the vector unit, each element from the pixels of a window
    kReduction,  ///< the vector unit, values of an axis into one
    kTranspose,  ///< the vector unit's transposer
};

/// Where an instruction waits and works. A queue works in order.
enum class Queue : std::uint8_t {
    kLoad,     ///< into the unified buffer: from the host or from memory
    kStore,    ///< out of the unified buffer
    kWeights,  ///< tiles into the weight FIFOs
    kMatrix0,
    kMatrix1,
    kMatrix2,
    kMatrix3,
    kMatrix4,
    kMatrix5,
    kMatrix6,
    kMatrix7,
    kVector,     ///< activation, pooling, vector unit
    kSequencer,  ///< not a queue: done by the sequencer itself
};
inline constexpr std::size_t kQueues = 12;
inline constexpr std::uint32_t kMaxMatrixUnits = 8;

enum class Space : std::uint8_t { kHost, kMemory, kUnifiedBuffer, kAccumulators };
inline constexpr std::size_t kSpaces = 4;

using command::DataType;
using command::is_float;
using command::size_of;

/// How long a function of the vector unit takes an element: its ALU operations, or what the machine
/// needs for a division or a transcendental function.
enum class FunctionTime : std::uint8_t { kOperations, kDivision, kTranscendental };

/// Of one operand, then of two.
enum class Function : std::uint8_t {
#define FUNCTION(name, ...) name,
#include "isa/tpu/instructions.table"
};
inline constexpr Function kFirstBinary = Function::kAdd;
inline constexpr bool is_binary(Function function) {
    return function >= kFirstBinary;
}

/// How operand b of `vector` is spread over the rows and columns of operand a.
enum class Broadcast : std::uint8_t {
    kNone,       ///< b has rows x columns
    kRow,        ///< b has one row, used for every row
    kColumn,     ///< b has one column, used for every column
    kImmediate,  ///< b is the immediate
};

/// Which operand is in registers already.
enum class Taken : std::uint8_t { kNone, kA, kB };

enum class Reduction : std::uint8_t { kSum, kMean, kMax, kMin, kSumOfSquares };
enum class Axis : std::uint8_t { kColumns, kRows };  ///< the axis that goes away
enum class PoolMode : std::uint8_t { kNone, kMax, kAverage };
/// How integer results are rounded.
enum class Rounding : std::uint8_t {
    kReal,        ///< fp32 arithmetic, then to nearest even
    kFixedPoint,  ///< integer multiplier and shift, ties up (sim/numerics/requantise.h)
};
enum class WeightSource : std::uint8_t { kMemory, kUnifiedBuffer };
/// What stays in the array's PEs while the other operands stream through: a tile of weights, of
/// results (sums), or of inputs.
enum class Dataflow : std::uint8_t { kWeightStationary, kOutputStationary, kInputStationary };

}  // namespace lockstep::tpu
