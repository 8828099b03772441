// SPDX-License-Identifier: Apache-2.0
// What a simulated thread can do wrong. Semantics throw it; the machine adds kernel, CTA and pc.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::sass {

enum class FaultKind : std::uint8_t {
    kIllegalAddress,       ///< no allocation there (CUDA error 700)
    kMisalignedAddress,    ///< CUDA error 716
    kInvalidAddressSpace,  ///< CUDA error 717
    kInvalidPc,            ///< jump to where there is no code (718)
    kIllegalInstruction,   ///< operands that the instruction does not take (715)
    kNotExecuted,          ///< right for the hardware, but not executed here yet
    kAssert,               ///< device assert (710)
    kTrap,                 ///< __trap() (719 launch failure)
    kLaunchFailure,        ///< 719
    kDivergentBarrier,     ///< a barrier that can never complete
    kDeadlock,             ///< no warp can go on
    kInstructionLimit,     ///< more instructions than --max-instructions
};

/// kCluster: shared memory of another CTA of the cluster, by rank and offset (cluster.h).
enum class Space : std::uint8_t { kGlobal, kShared, kLocal, kConstant, kGeneric, kCluster };

/// Thrown by semantics, caught by the machine that runs the warp.
struct Fault {
    FaultKind kind = FaultKind::kLaunchFailure;
    std::string what;           ///< one clause, such as "4-byte load from 0x10 in global memory"
    unsigned lane = 0;          ///< first lane at fault
    std::uint64_t address = 0;  ///< for address faults
    std::uint32_t bytes = 0;    ///< size of the access
    Space space = Space::kGlobal;
};

}  // namespace lockstep::sass
