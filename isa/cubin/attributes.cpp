// SPDX-License-Identifier: Apache-2.0
// .nv.info is a list of records: u8 format, u8 code, then nothing (NVAL), a byte (BVAL), a half
// word (HVAL) or a u16 length with so many bytes (SVAL). The first three are padded to 4 bytes.
// Codes this project has no use for are kept but not understood. Source: sections written by
// ptxas 11.8 and 13.0; names from the linker's own table.
#include "isa/cubin/attributes.h"

#include <algorithm>
#include <array>

namespace lockstep::cubin {

namespace {

constexpr std::string_view kNames[] = {
    "ERROR",
    "PAD",
    "IMAGE_SLOT",
    "JUMPTABLE_RELOCS",
    "CTAIDZ_USED",
    "MAX_THREADS",
    "IMAGE_OFFSET",
    "IMAGE_SIZE",
    "TEXTURE_NORMALIZED",
    "SAMPLER_INIT",
    "PARAM_CBANK",
    "SMEM_PARAM_OFFSETS",
    "CBANK_PARAM_OFFSETS",
    "SYNC_STACK",
    "TEXID_SAMPID_MAP",
    "EXTERNS",
    "REQNTID",
    "FRAME_SIZE",
    "MIN_STACK_SIZE",
    "SAMPLER_FORCE_UNNORMALIZED",
    "BINDLESS_IMAGE_OFFSETS",
    "BINDLESS_TEXTURE_BANK",
    "BINDLESS_SURFACE_BANK",
    "KPARAM_INFO",
    "SMEM_PARAM_SIZE",
    "CBANK_PARAM_SIZE",
    "QUERY_NUMATTRIB",
    "MAXREG_COUNT",
    "EXIT_INSTR_OFFSETS",
    "S2RCTAID_INSTR_OFFSETS",
    "CRS_STACK_SIZE",
    "NEED_CNP_WRAPPER",
    "NEED_CNP_PATCH",
    "EXPLICIT_CACHING",
    "ISTYPEP_USED",
    "MAX_STACK_SIZE",
    "SUQ_USED",
    "LD_CACHEMOD_INSTR_OFFSETS",
    "LOAD_CACHE_REQUEST",
    "ATOM_SYS_INSTR_OFFSETS",
    "COOP_GROUP_INSTR_OFFSETS",
    "COOP_GROUP_MASK_REGIDS",
    "SW1850030_WAR",
    "WMMA_USED",
    "HAS_PRE_V10_OBJECT",
    "ATOMF16_EMUL_INSTR_OFFSETS",
    "ATOM16_EMUL_INSTR_REG_MAP",
    "REGCOUNT",
    "SW2393858_WAR",
    "INT_WARP_WIDE_INSTR_OFFSETS",
    "SHARED_SCRATCH",
    "STATISTICS",
    "INDIRECT_BRANCH_TARGETS",
    "SW2861232_WAR",
    "SW_WAR",
    "CUDA_API_VERSION",
    "NUM_MBARRIERS",
    "MBARRIER_INSTR_OFFSETS",
    "COROUTINE_RESUME_OFFSETS",
    "SAM_REGION_STACK_SIZE",
    "PER_REG_TARGET_PERF_STATS",
    "CTA_PER_CLUSTER",
    "EXPLICIT_CLUSTER",
    "MAX_CLUSTER_RANK",
    "INSTR_REG_MAP",
    "RESERVED_SMEM_USED",
    "RESERVED_SMEM_0_SIZE",
    "UCODE_SECTION_DATA",
    "UNUSED_LOAD_BYTE_OFFSET",
    "KPARAM_INFO_V2",
    "SYSCALL_OFFSETS",
    "SW_WAR_MEMBAR_SYS_INSTR_OFFSETS",
    "GRAPHICS_GLOBAL_CBANK",
    "SHADER_TYPE",
    "VRC_CTA_INIT_COUNT",
    "TOOLS_PATCH_FUNC",
    "NUM_BARRIERS",
    "TEXMODE_INDEPENDENT",
    "PERF_STATISTICS",
    "AT_ENTRY_FRAGEMENTS",
    "SPARSE_MMA_MASK",
    "TCGEN05_1CTA_USED",
    "TCGEN05_2CTA_USED",
    "GEN_ERRBAR_AT_EXIT",
    "REG_RECONFIG",
    "ANNOTATIONS",
    "UNKNOWN",
    "STACK_CANARY_TRAP_OFFSETS",
    "STUB_FUNCTION_KIND",
    "LOCAL_CTA_ASYNC_STORE_OFFSETS",
    "MERCURY_FINALIZER_OPTIONS",
    "BLOCKS_ARE_CLUSTERS",
    "SANITIZE",
    "SYSCALLS_FALLBACK",
    "CUDA_REQ",
    "MERCURY_ISA_VERSION",
};

uint32_t half(const Attribute& attribute, size_t offset) {
    return attribute.payload[offset] | attribute.payload[offset + 1] << 8;
}

std::vector<uint32_t> words(const Attribute& attribute) {
    std::vector<uint32_t> result(attribute.payload.size() / 4);
    for (size_t i = 0; i < result.size(); ++i) result[i] = payload_word(attribute, i);
    return result;
}

// One parameter: u32 index, u16 ordinal, u16 offset, u32 with the size in bits 18 to 31. Version 2,
// for kernels with parameters too large for that, has the size in bits 0 to 15.
std::pair<uint32_t, Parameter> read_parameter(const Attribute& attribute, bool version2) {
    const uint32_t word = payload_word(attribute, 2);
    return {half(attribute, 4), {half(attribute, 6), version2 ? word & 0xffff : word >> 18}};
}

// A list of {u32 offset of the branch, u32 0, u32 count, count x u32 target}.
void read_branch_targets(Function& function, const Attribute& attribute, const Reader& section) {
    const std::vector<uint32_t> list = words(attribute);
    for (size_t i = 0; i < list.size();) {
        if (list.size() - i < 3 || list[i + 2] > list.size() - i - 3)
            section.fail(0, "INDIRECT_BRANCH_TARGETS ends inside of a list");
        const auto begin = list.begin() + static_cast<std::ptrdiff_t>(i) + 3;
        function.indirect_branches.push_back(list[i]);
        function.indirect_branch_targets.emplace_back(begin, begin + list[i + 2]);
        i += 3 + list[i + 2];
    }
}

void read_dim3(std::array<uint32_t, 3>& result, const Attribute& attribute) {
    for (size_t i = 0; i < 3; ++i) result[i] = payload_word(attribute, i);
}

}  // namespace

std::string_view attribute_name(uint8_t code) {
    return code < std::size(kNames) ? kNames[code] : std::string_view();
}

uint32_t payload_word(const Attribute& attribute, size_t index) {
    uint32_t word;
    LOCKSTEP_CHECK(attribute.payload.size() >= 4 * index + 4, "attribute {:#x} is too short",
                   attribute.code);
    std::memcpy(&word, attribute.payload.data() + 4 * index, 4);
    return word;
}

std::vector<Attribute> read_attributes(const Reader& section) {
    // Payload bytes that the code reading them relies on.
    static constexpr struct {
        AttributeCode code;
        size_t bytes;
    } kSmallest[] = {
        {AttributeCode::kMaxThreads, 12},    {AttributeCode::kParamCbank, 8},
        {AttributeCode::kReqntid, 12},       {AttributeCode::kFrameSize, 8},
        {AttributeCode::kMinStackSize, 8},   {AttributeCode::kKparamInfo, 12},
        {AttributeCode::kCbankParamSize, 2}, {AttributeCode::kMaxStackSize, 8},
        {AttributeCode::kRegcount, 8},       {AttributeCode::kCtaPerCluster, 12},
        {AttributeCode::kMaxClusterRank, 4}, {AttributeCode::kKparamInfoV2, 12},
        {AttributeCode::kNumBarriers, 1},
    };
    std::vector<Attribute> result;
    for (uint64_t at = 0; at < section.size();) {
        const uint8_t format = section.u8(at, "attribute");
        const uint8_t code = section.u8(at + 1, "attribute");
        uint64_t begin = at + 2, size = 0;
        switch (format) {
            case 1:
                break;
            case 2:
                size = 1;
                break;
            case 3:
                size = 2;
                break;
            case 4:
                size = section.u16(at + 2, "attribute length");
                begin = at + 4;
                break;
            default:
                section.fail(
                    at, fmt::format("attribute {:#x} has the unknown format {}", code, format));
        }
        const auto payload = section.bytes(begin, size, "attribute");
        for (const auto& smallest : kSmallest)
            if (code == static_cast<uint8_t>(smallest.code) && size < smallest.bytes)
                section.fail(at, fmt::format("attribute {} has {} of {} bytes",
                                             attribute_name(code), size, smallest.bytes));
        result.push_back({code, {payload.begin(), payload.end()}});
        at = format == 4 ? begin + size : at + 4;
    }
    return result;
}

void describe(Function& function, const std::vector<Attribute>& attributes, const Reader& section) {
    std::vector<std::pair<uint32_t, Parameter>> parameters;
    for (const Attribute& attribute : attributes) {
        switch (static_cast<AttributeCode>(attribute.code)) {
            case AttributeCode::kMaxThreads:
                read_dim3(function.max_threads, attribute);
                break;
            case AttributeCode::kReqntid:
                read_dim3(function.required_threads, attribute);
                break;
            case AttributeCode::kCtaPerCluster:
                read_dim3(function.cluster, attribute);
                break;
            case AttributeCode::kMaxClusterRank:
                function.max_cluster_rank = payload_word(attribute, 0);
                break;
            case AttributeCode::kExplicitCluster:
                function.explicit_cluster = true;
                break;
            case AttributeCode::kBlocksAreClusters:
                function.blocks_are_clusters = true;
                break;
            case AttributeCode::kParamCbank:
                function.parameter_base = half(attribute, 4);
                function.parameter_bytes = half(attribute, 6);
                break;
            case AttributeCode::kKparamInfo:
                parameters.push_back(read_parameter(attribute, false));
                break;
            case AttributeCode::kKparamInfoV2:
                parameters.push_back(read_parameter(attribute, true));
                break;
            case AttributeCode::kNumBarriers:
                function.barriers = attribute.payload[0];
                break;
            case AttributeCode::kExitInstrOffsets:
                function.exit_offsets = words(attribute);
                break;
            case AttributeCode::kSyscallOffsets:
                function.syscall_offsets = words(attribute);
                break;
            case AttributeCode::kCoopGroupInstrOffsets:
                function.coop_group_offsets = words(attribute);
                break;
            case AttributeCode::kIndirectBranchTargets:
                read_branch_targets(function, attribute, section);
                break;
            default:
                break;
        }
    }
    std::sort(parameters.begin(), parameters.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < parameters.size(); ++i) {
        const auto& [ordinal, parameter] = parameters[i];
        if (ordinal != i)
            section.fail(0,
                         fmt::format("parameter {} of {} is not described", i, parameters.size()));
        if (uint64_t{parameter.offset} + parameter.size > function.parameter_bytes)
            section.fail(
                0, fmt::format("parameter {} ({} bytes at {:#x}) lies outside of the {} bytes "
                               "of parameters",
                               i, parameter.size, parameter.offset, function.parameter_bytes));
        function.parameters.push_back(parameter);
    }
}

}  // namespace lockstep::cubin
