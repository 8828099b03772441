// SPDX-License-Identifier: Apache-2.0
// Planes of rows between host memory or memory and the SRAM, and within it.
#include <cstring>

#include "isa/npu/semantics/handlers.h"

namespace lockstep::npu {

namespace {

using enum Field;

void copy_planes(const Instruction& i, const std::uint8_t* from, std::uint8_t* to) {
    for (std::uint64_t plane = 0; plane < i[kPlanes]; ++plane)
        for (std::uint64_t row = 0; row < i[kRows]; ++row)
            std::memmove(to + plane * i[kDestinationPlane] + row * i[kDestinationPitch],
                         from + plane * i[kSourcePlane] + row * i[kSourcePitch], i[kRowBytes]);
}

}  // namespace

void execute_transfer(const Instruction& i, State& state) {
    if (i[kRows] == 0 || i[kRowBytes] == 0 || i[kPlanes] == 0) return;
    command::Storage& storage = state.storage();
    switch (i.opcode()) {
        case Opcode::kReadHost:
            return copy_planes(i, storage.at(Space::kHost, i[kHost]).data(),
                               state.sram(i[kDestination]));
        case Opcode::kWriteHost:
            return copy_planes(i, state.sram(i[kSource]),
                               storage.at(Space::kHost, i[kHost]).data());
        case Opcode::kStore:
            return copy_planes(i, state.sram(i[kSource]),
                               storage.at(Space::kMemory, i[kMemory]).data());
        default:
            return copy_planes(i, storage.at(Space::kMemory, i[kMemory]).data(),
                               state.sram(i[kDestination]));
    }
}

void execute_copy(const Instruction& i, State& state) {
    copy_planes(i, state.sram(i[kSource]), state.sram(i[kDestination]));
}

void execute_fill(const Instruction& i, State& state) {
    for (std::uint64_t plane = 0; plane < i[kPlanes]; ++plane)
        for (std::uint64_t row = 0; row < i[kRows]; ++row)
            std::memset(state.sram(i[kDestination] + plane * i[kDestinationPlane] +
                                   row * i[kDestinationPitch]),
                        static_cast<int>(i[kValue]), i[kRowBytes]);
}

}  // namespace lockstep::npu
