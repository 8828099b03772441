// SPDX-License-Identifier: Apache-2.0
// What a TPU core holds, and what instructions do to it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "isa/product/product.h"
#include "isa/tpu/footprint.h"
#include "isa/tpu/program.h"

namespace lockstep::tpu {

using command::zeros;
using command::Zeros;
using product::integer_pitch;
using product::IntegerWeights;

/// The sizes of a core that a program can run into.
struct CoreLimits {
    std::uint64_t unified_buffer = 0;    ///< bytes
    std::uint32_t accumulator_rows = 0;  ///< of array_columns 32-bit values each
    std::uint32_t array_rows = 0, array_columns = 0;
    std::uint32_t matrix_units = 1;
    Dataflow dataflow = Dataflow::kWeightStationary;
    bool operator==(const CoreLimits&) const = default;
};

/// Weights [lane][column], in the form that their type is multiplied in.
struct WeightTile {
    std::uint32_t lanes = 0, columns = 0;
    DataType type = DataType::kInt8;
    std::vector<float> floats;
    IntegerWeights integers;
};

/// Rows of inputs [row][lane] that an input-stationary array holds, as WeightTile has weights.
struct InputTile {
    std::uint32_t rows = 0, lanes = 0;
    DataType type = DataType::kInt8;
    std::vector<float> floats;
    std::vector<std::int16_t> integers;
};

/// Sums [row][column] that an output-stationary array holds; fp32 ones by their bits.
struct SumTile {
    std::uint32_t rows = 0, columns = 0;
    bool floats = false;
    std::vector<std::uint32_t> values;
};

class State {
  public:
    State(const CoreLimits& limits, Storage& storage);

    const CoreLimits& limits() const { return limits_; }

    std::uint8_t* unified_buffer(std::uint64_t address) { return unified_buffer_.get() + address; }
    /// A row of accumulators; fp32 ones are held by their bits.
    std::uint32_t* accumulators(std::uint64_t row) {
        return accumulators_.get() + row * limits_.array_columns;
    }
    Storage& storage() { return storage_; }

    /// Does the host task of this number, in host memory; null where nobody does.
    std::function<void(std::uint32_t)> host;

    std::deque<WeightTile> fifo[kMaxMatrixUnits];  ///< tiles that were read and not yet taken
    WeightTile weights[kMaxMatrixUnits];           ///< in the array, or streaming through it
    InputTile inputs[kMaxMatrixUnits];             ///< in the array (is)
    SumTile sums[kMaxMatrixUnits];                 ///< in the array (os); none: rows is 0
    /// What a `vector` keeps in registers for the next instruction, [row][column].
    std::vector<float> kept;

  private:
    const CoreLimits limits_;
    Storage& storage_;
    Zeros<std::uint8_t> unified_buffer_;
    Zeros<std::uint32_t> accumulators_;
};

/// Why the instruction cannot run on a core with these limits and buffers (an address out of
/// range, too many lanes, no such unit); empty where it can.
std::string check_bounds(const Instruction& instruction, const CoreLimits& limits,
                         const Storage& storage);

/// Does what the instruction does, at once. check_bounds() must have passed. Throws ProgramFault
/// where the state is wrong for it: no tile in the FIFO, an index past the table. An interrupt_host
/// calls state.host with its number, where there is one.
void execute(const Instruction& instruction, State& state);

}  // namespace lockstep::tpu
