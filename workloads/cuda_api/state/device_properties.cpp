// SPDX-License-Identifier: Apache-2.0
// The driver reports what the chip has; we report what the machine file has, and for what no
// machine file describes (texture sizes, PCI addresses, host features) what the driver reports on
// compute capability 7.0 to 9.0. Textures and surfaces are not modelled: their sizes are reported
// as 0.
#include "workloads/cuda_api/state/device_properties.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "isa/sass/launch_limits.h"

namespace lockstep::cuda {

DeviceProperties DeviceProperties::from_machine(const config::Machine& machine) {
    DeviceProperties result;
    result.name = machine.text("product");
    result.arch = static_cast<int>(machine.integer("arch"));
    result.sm_count = static_cast<int>(machine.integer("sm.count"));
    result.sub_cores = static_cast<int>(machine.integer("sm.sub_cores"));
    result.clock_khz = std::llround(machine.number("clock.sm") * 1e3);
    result.memory_clock_khz = std::llround(machine.number("clock.memory") * 1e3);
    result.memory_bus_bits = static_cast<int>(machine.integer("dram.bus_width"));
    result.memory_bytes = static_cast<std::uint64_t>(machine.integer("dram.size"));
    result.l2_bytes = static_cast<std::uint64_t>(machine.integer("l2.size"));
    result.max_threads_per_sm = static_cast<int>(machine.integer("sm.max_threads"));
    result.max_blocks_per_sm = static_cast<int>(machine.integer("sm.max_ctas"));
    result.registers_per_sm = static_cast<int>(machine.integer("sm.registers"));
    result.shared_per_sm = static_cast<std::uint64_t>(machine.integer("shared_memory.size"));
    result.shared_per_block_optin =
        static_cast<std::uint64_t>(machine.integer("shared_memory.max_per_cta"));
    result.reserved_shared =
        static_cast<std::uint64_t>(machine.integer("shared_memory.reserved_per_cta"));
    // CUDA C++ Programming Guide, "Arithmetic Instructions": FP32 over FP64 results a cycle.
    const bool has_fp64_units = result.arch == 70 || result.arch == 80 || result.arch == 90;
    result.single_to_double_ratio = has_fp64_units ? 2 : result.arch == 75 ? 32 : 64;
    return result;
}

std::optional<int> DeviceProperties::attribute(int id) const {
    const auto clamp = [](std::uint64_t bytes) {
        return static_cast<int>(std::min<std::uint64_t>(bytes, 0x7fffffff));
    };
    const bool ampere = arch >= 80;
    switch (id) {
        case 1:
            return kMaxThreadsPerBlock;
        case 2:
            return sass::kMaxBlock[0];
        case 3:
            return sass::kMaxBlock[1];
        case 4:
            return sass::kMaxBlock[2];
        case 5:
            return sass::kMaxGrid[0];
        case 6:
            return sass::kMaxGrid[1];
        case 7:
            return sass::kMaxGrid[2];
        case 8:
            return clamp(kSharedPerBlock);
        case 9:
            return clamp(kConstantBytes);
        case 10:
            return kWarpSize;
        case 11:
            return 0x7fffffff;  // MaxPitch
        case 12:
            return kRegistersPerBlock;
        case 13:
            return static_cast<int>(clock_khz);
        case 14:
            return 512;  // TextureAlignment
        case 15:
            return 1;  // GpuOverlap
        case 16:
            return sm_count;
        case 17:
            return 0;  // KernelExecTimeout
        case 18:
            return 0;  // Integrated
        case 19:
            return 1;  // CanMapHostMemory
        case 20:
            return 0;  // ComputeMode: default
        case 30:
            return 512;  // SurfaceAlignment
        case 31:
            return 1;  // ConcurrentKernels
        case 32:
            return 1;  // EccEnabled
        case 33:
        case 34:
            return 0;  // PciBusId, PciDeviceId
        case 35:
            return 0;  // TccDriver
        case 36:
            return static_cast<int>(memory_clock_khz);
        case 37:
            return memory_bus_bits;
        case 38:
            return clamp(l2_bytes);
        case 39:
            return max_threads_per_sm;
        case 40:
            return 3;  // AsyncEngineCount
        case 41:
            return 1;  // UnifiedAddressing
        case 50:
            return 0;  // PciDomainId
        case 51:
            return 32;  // TexturePitchAlignment
        case 75:
            return major();
        case 76:
            return minor();
        case 78:
        case 79:
        case 80:
            return 1;  // stream priorities, global and local L1
        case 81:
            return clamp(shared_per_sm);
        case 82:
            return registers_per_sm;
        case 83:
            return 1;  // ManagedMemory
        case 84:
            return 0;  // IsMultiGpuBoard
        case 85:
            return 0;  // MultiGpuBoardGroupID
        case 86:
            return 0;  // HostNativeAtomicSupported
        case 87:
            return single_to_double_ratio;
        case 88:
            return 0;  // PageableMemoryAccess
        case 89:
            return 1;  // ConcurrentManagedAccess
        case 90:
            return 1;  // ComputePreemptionSupported
        case 91:
            return 1;  // CanUseHostPointerForRegisteredMem
        case 95:
            return 1;  // CooperativeLaunch
        case 96:
            return 0;  // CooperativeMultiDeviceLaunch
        case 97:
            return clamp(shared_per_block_optin);
        case 98:
            return 1;  // CanFlushRemoteWrites
        case 99:
            return 1;  // HostRegisterSupported
        case 100:
            return 0;  // PageableMemoryAccessUsesHostPageTables
        case 101:
            return 0;  // DirectManagedMemAccessFromHost
        case 102:
            return 1;  // VirtualMemoryManagementSupported
        case 103:
        case 104:
        case 105:
            return 0;  // handles of memory that other processes can be given
        case 106:
            return max_blocks_per_sm;
        case 108:
            return ampere ? clamp(l2_bytes * 5 / 8) : 0;  // MaxPersistingL2CacheSize
        case 109:
            return ampere ? 128 << 20 : 0;  // MaxAccessPolicyWindowSize
        case 111:
            return clamp(reserved_shared);
        case 112:
            return 0;  // SparseCudaArraySupported
        case 113:
            return 1;  // HostRegisterReadOnlySupported
        case 114:
            return 0;  // TimelineSemaphoreInteropSupported
        case 115:
            return 1;  // MemoryPoolsSupported
        case 116:
        case 117:
        case 118:
            return 0;  // GPUDirect RDMA
        case 119:
            return 0;  // MemoryPoolSupportedHandleTypes: none can be shared
        case 120:
            return arch >= 90 ? 1 : 0;  // ClusterLaunch
        case 121:
            return 0;  // DeferredMappingCudaArraySupported
        case 125:
            return 0;  // IpcEventSupport
        case 126:
            return arch >= 90 ? 4 : 1;  // MemSyncDomainCount
        case 130:
            return 0;  // NumaConfig: none
        case 131:
        case 134:
            return -1;  // NumaId, HostNumaId
        case 132:
        case 133:
            return 0;
        case 135:
        case 138:
            return 0;  // D3D12, Vulkan
        case 139:
        case 140:
            return 0;  // PCI identifiers
        case 142:
        case 143:
        case 144:
            return 0;
        case 147:
            return 0;
        default:
            break;
    }
    const bool texture =
        (id >= 21 && id <= 29) || (id >= 42 && id <= 49) || (id >= 52 && id <= 74) || id == 77;
    const bool reserved =
        (id >= 92 && id <= 94) || (id >= 122 && id <= 129) || id == 141 || id == 145 || id == 146;
    if (texture || reserved) return 0;
    return std::nullopt;
}

namespace {

/// The fields that both layouts have.
template <typename Properties>
void fill_common(const DeviceProperties& from, Properties& to) {
    const auto attribute = [&from](int id) { return from.attribute(id).value_or(0); };
    std::memset(&to, 0, sizeof(to));
    std::strncpy(to.name, from.name.c_str(), sizeof(to.name) - 1);
    std::memcpy(to.uuid, "lockstep-device0", sizeof(to.uuid));
    to.totalGlobalMem = from.memory_bytes;
    to.sharedMemPerBlock = DeviceProperties::kSharedPerBlock;
    to.regsPerBlock = DeviceProperties::kRegistersPerBlock;
    to.warpSize = DeviceProperties::kWarpSize;
    to.memPitch = static_cast<std::size_t>(attribute(11));
    to.maxThreadsPerBlock = DeviceProperties::kMaxThreadsPerBlock;
    std::copy_n(sass::kMaxBlock, 3, to.maxThreadsDim);
    std::copy_n(sass::kMaxGrid, 3, to.maxGridSize);
    to.totalConstMem = DeviceProperties::kConstantBytes;
    to.major = from.major();
    to.minor = from.minor();
    to.textureAlignment = static_cast<std::size_t>(attribute(14));
    to.texturePitchAlignment = static_cast<std::size_t>(attribute(51));
    to.multiProcessorCount = from.sm_count;
    to.canMapHostMemory = 1;
    to.surfaceAlignment = static_cast<std::size_t>(attribute(30));
    to.concurrentKernels = 1;
    to.ECCEnabled = attribute(32);
    to.asyncEngineCount = attribute(40);
    to.unifiedAddressing = 1;
    to.memoryBusWidth = from.memory_bus_bits;
    to.l2CacheSize = attribute(38);
    to.persistingL2CacheMaxSize = attribute(108);
    to.maxThreadsPerMultiProcessor = from.max_threads_per_sm;
    to.streamPrioritiesSupported = to.globalL1CacheSupported = to.localL1CacheSupported = 1;
    to.sharedMemPerMultiprocessor = from.shared_per_sm;
    to.regsPerMultiprocessor = from.registers_per_sm;
    to.managedMemory = 1;
    to.concurrentManagedAccess = attribute(89);
    to.computePreemptionSupported = attribute(90);
    to.canUseHostPointerForRegisteredMem = attribute(91);
    to.cooperativeLaunch = 1;
    to.sharedMemPerBlockOptin = from.shared_per_block_optin;
    to.maxBlocksPerMultiProcessor = from.max_blocks_per_sm;
    to.accessPolicyMaxWindowSize = attribute(109);
    to.reservedSharedMemPerBlock = from.reserved_shared;
    to.hostRegisterSupported = to.hostRegisterReadOnlySupported = 1;
    to.memoryPoolsSupported = 1;
    to.clusterLaunch = attribute(120);
}

}  // namespace

void DeviceProperties::fill(abi::DeviceProp12& properties) const {
    fill_common(*this, properties);
    properties.clockRate = static_cast<int>(clock_khz);
    properties.memoryClockRate = static_cast<int>(memory_clock_khz);
    properties.deviceOverlap = 1;
    properties.singleToDoublePrecisionPerfRatio = single_to_double_ratio;
}

void DeviceProperties::fill(abi::DeviceProp13& properties) const {
    fill_common(*this, properties);
    properties.deviceNumaId = properties.hostNumaId = -1;
}

}  // namespace lockstep::cuda
