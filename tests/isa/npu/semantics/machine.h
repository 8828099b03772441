// SPDX-License-Identifier: Apache-2.0
// A small NPU with its buffers, for tests of single instructions.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "isa/npu/semantics/elements.h"
#include "isa/npu/semantics/state.h"
#include "sim/error/error.h"

namespace lockstep::npu {

class Machine {
  public:
    explicit Machine(
        CoreLimits limits = {.sram = 1 << 18, .accumulators = 1 << 14, .cores = 2, .outputs = 8},
        Program program = {})
        : program_(std::move(program)), storage(program_, true), state(limits, storage) {}

    void run(const Instruction& instruction) {
        const std::string operands = check_operands(instruction);
        if (!operands.empty()) throw InputError(operands);
        const std::string bounds = check_bounds(instruction, state.limits(), storage);
        if (!bounds.empty()) throw InputError(bounds);
        execute(instruction, state);
    }
    void run(Opcode opcode, Instruction::Fields fields) { run(Instruction(opcode, fields)); }

    template <typename T>
    void put(std::uint64_t address, const std::vector<T>& values) {
        std::memcpy(state.sram(address), values.data(), values.size() * sizeof(T));
    }
    template <typename T>
    std::vector<T> get(std::uint64_t address, std::size_t count) {
        std::vector<T> values(count);
        std::memcpy(values.data(), state.sram(address), count * sizeof(T));
        return values;
    }
    /// Any bits into a range.
    void fill(std::uint64_t address, std::uint64_t bytes, std::mt19937& random) {
        for (std::uint64_t i = 0; i < bytes; ++i)
            *state.sram(address + i) = static_cast<std::uint8_t>(random());
    }
    /// A value of an image, as stored.
    std::int32_t at(const Image& image, std::uint64_t y, std::uint64_t x, std::uint64_t c) {
        std::vector<std::int32_t> values(image.channels);
        unpack(state.sram(image.address + y * image.row + x * image.pixel), image.type,
               image.channels, 0, values.data());
        return values[c];
    }

  private:
    Program program_;

  public:
    Storage storage;
    State state;
};

}  // namespace lockstep::npu
