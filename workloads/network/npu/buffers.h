// SPDX-License-Identifier: Apache-2.0
// The program's buffers: values that have a place outside the SRAM, and constants.
#pragma once

#include <map>
#include <span>
#include <string>

#include "isa/npu/builder.h"
#include "workloads/network/npu/compile.h"
#include "workloads/network/npu/plan.h"
#include "workloads/network/npu/values.h"

namespace lockstep::network::npu_code {

class Buffers {
  public:
    Buffers(const Graph& graph, Values& values, const Plan& plan, isa::ProgramBuilder& builder)
        : graph_(graph), values_(values), plan_(plan), builder_(builder) {}

    /// Makes those of the plan's values.
    void place();
    /// In memory or the host's; the value must have a place there.
    std::uint64_t address(ValueId value) const { return builder_.address(buffers_.at(value)); }
    /// A constant of the program; its address. `known`: its bytes are to be stored.
    std::uint64_t add_constant(const std::string& name, std::span<const std::uint8_t> bytes,
                               bool known);
    /// Of an input or output of the network, or what the host reads or writes.
    compile::Port port_of(ValueId id);
    ValueId root_of(ValueId id);  ///< the value whose place it has
    std::uint64_t constant_bytes() const { return constant_bytes_; }

  private:
    std::uint32_t add_buffer(ValueId id, const Place& place);
    std::uint32_t add_constant(ValueId id, const Place& place);

    const Graph& graph_;
    Values& values_;
    const Plan& plan_;
    isa::ProgramBuilder& builder_;
    std::map<ValueId, std::uint32_t> buffers_;
    std::uint64_t constant_bytes_ = 0;
};

}  // namespace lockstep::network::npu_code
