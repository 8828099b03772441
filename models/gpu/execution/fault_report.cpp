// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/execution/fault_report.h"

#include <fmt/format.h>

#include "isa/cubin/demangle.h"
#include "isa/sass/disassembler/disassembler.h"
#include "isa/sass/program.h"

namespace lockstep::gpu {

namespace {

const char* title(sass::FaultKind kind) {
    switch (kind) {
        case sass::FaultKind::kIllegalAddress:
            return "illegal address";
        case sass::FaultKind::kMisalignedAddress:
            return "misaligned address";
        case sass::FaultKind::kInvalidAddressSpace:
            return "invalid address space";
        case sass::FaultKind::kInvalidPc:
            return "invalid program counter";
        case sass::FaultKind::kIllegalInstruction:
            return "illegal instruction";
        case sass::FaultKind::kNotExecuted:
            return "instruction not executed";
        case sass::FaultKind::kAssert:
            return "device-side assert";
        case sass::FaultKind::kTrap:
            return "trap";
        case sass::FaultKind::kLaunchFailure:
            return "launch failure";
        case sass::FaultKind::kDivergentBarrier:
            return "divergent barrier";
        case sass::FaultKind::kDeadlock:
            return "deadlock";
        case sass::FaultKind::kInstructionLimit:
            return "instruction limit";
    }
    return "fault";
}

}  // namespace

std::string fault_report(const LocatedFault& fault, const sass::Launch& launch,
                         const memory::DeviceMemory& memory) {
    const sass::Program& program = *launch.program;
    const sass::Program::Function* function = program.function_at(fault.pc);
    const sass::Program::Function* kernel = program.function_at(launch.entry);
    const sass::Dim3& grid = launch.grid;
    const sass::Dim3& block = launch.block;
    const std::uint32_t thread = fault.warp * sass::kWarpSize + fault.fault.lane;

    std::string report = fmt::format("{}: {}\n", title(fault.fault.kind), fault.fault.what);
    report += fmt::format("  kernel       {}\n",
                          kernel != nullptr ? cubin::demangled(kernel->name) : "(unknown)");
    report += fmt::format("  CTA          ({},{},{}) of ({},{},{})\n", fault.cta % grid.x,
                          fault.cta / grid.x % grid.y, fault.cta / grid.x / grid.y, grid.x, grid.y,
                          grid.z);
    report += fmt::format("  thread       ({},{},{}) of ({},{},{}), warp {}, lane {}\n",
                          thread % block.x, thread / block.x % block.y, thread / block.x / block.y,
                          block.x, block.y, block.z, fault.warp, fault.fault.lane);
    if (function != nullptr) {
        const sass::Word& word = program.words()[fault.pc];
        report += fmt::format("  pc           {:#06x}{}\n",
                              (fault.pc - function->first) * sass::Word::kBytes,
                              function == kernel ? "" : " of " + cubin::demangled(function->name));
        report += fmt::format(
            "  instruction  {}  ({:016x} {:016x})\n",
            sass::disassemble(word, program.arch(),
                              (fault.pc - function->first) * std::uint64_t{sass::Word::kBytes}),
            word.lo, word.hi);
    } else {
        report += "  pc           outside of the program's code\n";
    }
    const bool is_address_fault = fault.fault.kind == sass::FaultKind::kIllegalAddress ||
                                  fault.fault.kind == sass::FaultKind::kMisalignedAddress;
    if (is_address_fault && fault.fault.space == sass::Space::kGlobal)
        report += fmt::format("  nearest      {}\n", memory.describe(fault.fault.address));
    if (fault.fault.kind == sass::FaultKind::kIllegalAddress &&
        fault.fault.space == sass::Space::kGlobal &&
        memory.allocation(fault.fault.address).bytes == 0 &&
        memory.is_on_mapped_page(fault.fault.address))
        report +=
            "  on a GPU     no fault: its pages of 2 MiB are mapped whole (--bounds page goes "
            "on)\n";
    report.pop_back();
    return report;
}

}  // namespace lockstep::gpu
