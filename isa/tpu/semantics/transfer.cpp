// SPDX-License-Identifier: Apache-2.0
// Rows between host memory or memory and the unified buffer.
#include <cstring>

#include "isa/tpu/semantics/handlers.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

using enum Field;

void copy_rows(const Instruction& i, const std::uint8_t* from, std::uint8_t* to) {
    for (std::uint64_t row = 0; row < i[kRows]; ++row)
        std::memcpy(to + row * i[kDestinationPitch], from + row * i[kSourcePitch], i[kRowBytes]);
}

}  // namespace

void execute_transfer(const Instruction& i, State& state) {
    if (i[kRows] == 0 || i[kRowBytes] == 0) return;
    Storage& storage = state.storage();
    switch (i.opcode()) {
        case Opcode::kReadHost:
            return copy_rows(i, storage.at(Space::kHost, i[kHost]).data(),
                             state.unified_buffer(i[kDestination]));
        case Opcode::kWriteHost:
            return copy_rows(i, state.unified_buffer(i[kSource]),
                             storage.at(Space::kHost, i[kHost]).data());
        case Opcode::kLoad:
            return copy_rows(i, storage.at(Space::kMemory, i[kMemory]).data(),
                             state.unified_buffer(i[kDestination]));
        default:
            return copy_rows(i, state.unified_buffer(i[kSource]),
                             storage.at(Space::kMemory, i[kMemory]).data());
    }
}

void execute_gather(const Instruction& i, State& state) {
    if (i[kRowBytes] == 0) return;
    const Storage& storage = state.storage();
    const Buffer* table = storage.find(Space::kMemory, i[kMemory], i[kMemory] + i[kRowBytes]);
    for (std::uint64_t row = 0; row < i[kRows]; ++row) {
        std::int32_t index;
        std::memcpy(&index, state.unified_buffer(i[kIndices] + 4 * row), 4);
        const std::uint64_t begin =
            i[kMemory] + i[kSourcePitch] * static_cast<std::uint32_t>(index);
        if (table == nullptr || index < 0 ||
            storage.find(Space::kMemory, begin, begin + i[kRowBytes]) != table)
            throw ProgramFault(
                fmt::format("index {} of row {} lies outside of the table", index, row));
        std::memcpy(state.unified_buffer(i[kDestination] + row * i[kDestinationPitch]),
                    state.storage().at(Space::kMemory, begin).data(), i[kRowBytes]);
    }
}

}  // namespace lockstep::tpu
