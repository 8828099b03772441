// SPDX-License-Identifier: Apache-2.0
// Where a program keeps what goes in, comes out, and crosses to the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/network/compile/view.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::network::compile {

/// How integers of 4 or 2 bits lie: so many elements in a row of so many bytes, the first in the
/// lowest bits.
struct Packing {
    std::uint32_t bits = 0;  ///< 0: they are not packed
    std::int64_t row = 1, row_bytes = 1;
};

/// A value in a buffer of a program.
struct Port {
    ValueId value = kNoValue;
    std::uint32_t buffer = 0;
    std::uint64_t offset = 0;               ///< bytes; of packed integers, elements
    ElementType type = ElementType::kInt8;  ///< as it is stored
    View view;
    Packing packing = {};
};

/// Puts a tensor into the buffer, and takes one out: converted to and from the port's type.
void write_port(const Port& port, const Tensor& tensor, std::span<std::uint8_t> contents);
Tensor read_port(const Port& port, ElementType type, std::span<const std::uint8_t> contents);

/// What the host computes at one interrupt; HostDriver does it.
struct HostTask {
    std::vector<std::size_t> nodes;   ///< of the graph, in order
    std::vector<Port> reads, writes;  ///< what comes from the chip, or was given; what it needs
};

}  // namespace lockstep::network::compile
