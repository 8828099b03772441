// SPDX-License-Identifier: Apache-2.0
// What a program can ask of the device: properties, attributes and limits, from the machine's
// parameters. The only place that knows the machine file's keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/config/machine.h"
#include "workloads/cuda_api/state/abi_device_prop.h"

namespace lockstep::cuda {

struct DeviceProperties {
    std::string name;
    int arch = 90;  ///< compute capability times ten
    int sm_count = 1;
    int sub_cores = 4;  ///< of an SM
    std::int64_t clock_khz = 0, memory_clock_khz = 0;
    int memory_bus_bits = 0;
    std::uint64_t memory_bytes = 0, l2_bytes = 0;
    int max_threads_per_sm = 2048, max_blocks_per_sm = 32;
    int registers_per_sm = 65536;
    std::uint64_t shared_per_sm = 0;           ///< bytes CTAs can use together
    std::uint64_t shared_per_block_optin = 0;  ///< bytes a CTA may ask for
    std::uint64_t reserved_shared = 0;         ///< bytes each CTA loses to the system
    int single_to_double_ratio = 2;

    // The same for every GPU of compute capability 7.0 to 9.0 (CUDA C++ Programming Guide, table
    // "Technical Specifications per Compute Capability").
    static constexpr int kWarpSize = 32;
    static constexpr int kMaxThreadsPerBlock = 1024;
    static constexpr std::uint64_t kSharedPerBlock = 48 * 1024;
    static constexpr int kRegistersPerBlock = 65536;
    static constexpr std::uint64_t kConstantBytes = 64 * 1024;
    static constexpr int kRegistersPerThread = 255;
    // Granularities by which resources are given out (CUDA occupancy calculator).
    static constexpr unsigned kRegisterUnit = 256;                     ///< registers a warp
    std::size_t shared_unit() const { return arch < 80 ? 256 : 128; }  ///< bytes a CTA
    static constexpr int kMaxCluster = 8;                              ///< portable cluster size

    static DeviceProperties from_machine(const config::Machine& machine);

    int major() const { return arch / 10; }
    int minor() const { return arch % 10; }

    /// cudaDeviceGetAttribute; nothing where CUDA 13 knows no such attribute.
    std::optional<int> attribute(int id) const;

    /// cudaGetDeviceProperties as CUDA 12 lays the structure out; CUDA 11 has its first
    /// abi::kDeviceProp11Bytes bytes.
    void fill(abi::DeviceProp12& properties) const;
    void fill(abi::DeviceProp13& properties) const;
};

}  // namespace lockstep::cuda
