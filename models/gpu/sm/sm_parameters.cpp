// SPDX-License-Identifier: Apache-2.0
// The pipe of an operation class is fixed by the architecture; intervals and latencies differ by
// chip (sm_rows.cpp).
#include "models/gpu/sm/sm_parameters.h"

#include <utility>

#include "models/gpu/device/parameter_rows.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

constexpr std::pair<OperationClass, Pipe> kPipeOf[] = {
    {OperationClass::kAlu, Pipe::kAlu},       {OperationClass::kFma, Pipe::kFma},
    {OperationClass::kImad, Pipe::kFmaHeavy}, {OperationClass::kImadWide, Pipe::kFmaHeavy},
    {OperationClass::kFp16, Pipe::kFp16},     {OperationClass::kFp64, Pipe::kFp64},
    {OperationClass::kMufu, Pipe::kXu},       {OperationClass::kBitCount, Pipe::kXu},
    {OperationClass::kConversion, Pipe::kXu}, {OperationClass::kConversion64, Pipe::kXu},
    {OperationClass::kReduce, Pipe::kXu},     {OperationClass::kSpecialRegister, Pipe::kAdu},
    {OperationClass::kVote, Pipe::kAlu},      {OperationClass::kUniform, Pipe::kUniform},
    {OperationClass::kBranch, Pipe::kCbu},    {OperationClass::kDispatch, Pipe::kDispatch},
    {OperationClass::kTensor, Pipe::kTensor}, {OperationClass::kMemory, Pipe::kLsu},
};
static_assert(std::size(kPipeOf) == kOperationClasses);

}  // namespace

SmParameters::SmParameters(const config::Machine& machine) {
    read_rows(machine, sm_rows(), *this);
    for (const auto& [of, pipe] : kPipeOf) operation[static_cast<unsigned>(of)].pipe = pipe;
    // Where an SM has one pipe for doubles, conversions from and to them have its rate (CUDA C
    // Programming Guide: 2 by SM and cycle) and pass it: clamping a float in doubles, two
    // conversions and two comparisons, takes 4 x 16 cycles of an SM a warp (RTX 3070 Ti).
    if (fp64_is_shared)
        operation[static_cast<unsigned>(OperationClass::kConversion64)].pipe = Pipe::kFp64;
    constexpr unsigned kWarpsOfSubCore = 32;  // sub-cores keep sets of warps as words
    if ((max_warps + sub_cores - 1) / sub_cores > kWarpsOfSubCore)
        throw InputError(
            fmt::format("{}: sm.max_warps: {} warps on {} sub-cores; a sub-core holds at most {}",
                        machine.name(), max_warps, sub_cores, kWarpsOfSubCore));
}

}  // namespace lockstep::gpu
