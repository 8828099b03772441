// SPDX-License-Identifier: Apache-2.0
// A small core with its buffers, for tests of single instructions.
#pragma once

#include <cstring>
#include <vector>

#include "isa/tpu/semantics/state.h"
#include "sim/error/error.h"
#include "sim/numerics/bf16.h"

namespace lockstep::tpu {

class Core {
  public:
    explicit Core(CoreLimits limits = {1 << 16, 64, 16, 16, 2}, Program program = {})
        : program_(std::move(program)), storage(program_, true), state(limits, storage) {}

    void run(Opcode opcode, Instruction::Fields fields) {
        const Instruction instruction(opcode, fields);
        const std::string operands = check_operands(instruction);
        if (!operands.empty()) throw InputError(operands);
        const std::string bounds = check_bounds(instruction, state.limits(), storage);
        if (!bounds.empty()) throw InputError(bounds);
        execute(instruction, state);
    }

    template <typename T>
    void put(std::uint64_t address, const std::vector<T>& values) {
        std::memcpy(state.unified_buffer(address), values.data(), values.size() * sizeof(T));
    }
    template <typename T>
    std::vector<T> get(std::uint64_t address, std::size_t count) {
        std::vector<T> values(count);
        std::memcpy(values.data(), state.unified_buffer(address), count * sizeof(T));
        return values;
    }
    std::vector<std::int32_t> accumulators(std::uint64_t row, std::size_t count) {
        return {state.accumulators(row), state.accumulators(row) + count};
    }

  private:
    Program program_;

  public:
    Storage storage;
    State state;
};

inline std::vector<std::uint16_t> bf16(const std::vector<float>& values) {
    std::vector<std::uint16_t> out;
    for (const float value : values) out.push_back(numerics::fp32_to_bf16(value));
    return out;
}

}  // namespace lockstep::tpu
