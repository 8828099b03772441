// SPDX-License-Identifier: Apache-2.0
// Which banks of the SRAM a command or transfer accesses how often.
#pragma once

#include "models/memory/banks/bank_arbiter.h"
#include "models/npu/command_time.h"

namespace lockstep::npu {

/// Lines that a core's command reads and writes, by bank.
memory::BankLoads command_lines(const Instruction& instruction, const CommandTime& time,
                                const SramParameters& sram);

/// Lines that a transfer writes or reads, by bank.
memory::BankLoads transfer_lines(const Instruction& instruction, const SramParameters& sram);

}  // namespace lockstep::npu
