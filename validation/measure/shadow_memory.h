// SPDX-License-Identifier: Apache-2.0
// Device memory with a copy of it on the host. Workloads write inputs and read outputs through the
// addresses that they give to kernels; on silicon these are two memories. So a workload is handed
// the address of the host's copy, and what goes to the GPU has that replaced by the GPU's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "models/device.h"
#include "validation/measure/driver.h"

namespace lockstep::validation {

class ShadowMemory {
  public:
    explicit ShadowMemory(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}
    ~ShadowMemory();
    ShadowMemory(const ShadowMemory&) = delete;
    ShadowMemory& operator=(const ShadowMemory&) = delete;

    /// Zeroed on the host, undefined on the GPU. The two addresses have the same lower 32 bits, for
    /// kernels that compute with these alone. 0 where the GPU has no such memory left.
    DevicePointer allocate(std::uint64_t bytes);
    void free(DevicePointer pointer);

    /// Where on the GPU an allocation lies.
    CuPointer on_device(DevicePointer pointer) const { return blocks_.at(pointer).device; }

    /// Copy all of memory. With `has_addresses`, 8-byte words that are addresses of allocations are
    /// replaced on the way.
    void to_device(bool has_addresses);
    void to_host(bool has_addresses);

    /// A kernel's parameters with the GPU's addresses in them.
    std::vector<std::byte> translated(std::span<const std::byte> parameters) const;

  private:
    struct Block {
        CuPointer device = 0;
        std::uint64_t bytes = 0, mapped_bytes = 0;
        void* mapping = nullptr;
    };
    /// Replaces host addresses by the GPU's, or the other way round.
    void replace(std::span<std::byte> data, bool to_device) const;

    std::shared_ptr<const Driver> driver_;
    std::map<DevicePointer, Block> blocks_;              ///< by the host's address
    std::map<CuPointer, DevicePointer> host_of_device_;  ///< begins
};

}  // namespace lockstep::validation
