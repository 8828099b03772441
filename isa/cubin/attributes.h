// SPDX-License-Identifier: Apache-2.0
// The attributes ptxas leaves about a function and its module in the .nv.info sections.
#pragma once

#include <string_view>
#include <vector>

#include "isa/cubin/cubin.h"
#include "isa/cubin/reader.h"

namespace lockstep::cubin {

/// The attributes this project reads; attribute_name() knows all.
enum class AttributeCode : uint8_t {
    kMaxThreads = 0x05,
    kParamCbank = 0x0a,
    kExterns = 0x0f,
    kReqntid = 0x10,
    kFrameSize = 0x11,
    kMinStackSize = 0x12,
    kKparamInfo = 0x17,
    kCbankParamSize = 0x19,
    kMaxregCount = 0x1b,
    kExitInstrOffsets = 0x1c,
    kCrsStackSize = 0x1e,
    kMaxStackSize = 0x23,
    kCoopGroupInstrOffsets = 0x28,
    kRegcount = 0x2f,
    kIntWarpWideInstrOffsets = 0x31,
    kIndirectBranchTargets = 0x34,
    kCudaApiVersion = 0x37,
    kNumMbarriers = 0x38,
    kCtaPerCluster = 0x3d,
    kExplicitCluster = 0x3e,
    kMaxClusterRank = 0x3f,
    kKparamInfoV2 = 0x45,
    kSyscallOffsets = 0x46,
    kNumBarriers = 0x4c,
    kBlocksAreClusters = 0x5b,
};

/// The vendor's name without EIATTR_, or empty where the code is unknown.
std::string_view attribute_name(uint8_t code);

/// Splits one .nv.info section into its records. Throws InputError.
std::vector<Attribute> read_attributes(const Reader& section);

/// Fills in what `attributes`, the .nv.info section of `function`, say about it.
/// `section` only serves messages. Throws InputError.
void describe(Function& function, const std::vector<Attribute>& attributes, const Reader& section);

/// Little-endian 32-bit word `index` of a payload that has been checked to hold it.
uint32_t payload_word(const Attribute& attribute, size_t index);

}  // namespace lockstep::cubin
