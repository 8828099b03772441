// SPDX-License-Identifier: Apache-2.0
// What a kernel finds in constant bank 0, and the rows of its program's literals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/cubin/cubin.h"
#include "isa/sass/state.h"
#include "models/device.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {

/// Constant bank 0: what the driver fills in, then the parameters. `local_bytes`: of one thread.
/// The bank's place in device memory is `address`; `grid_workspace` is 0 unless cooperative.
void fill_constant_bank0(std::span<std::byte> bank, std::uint64_t address, int arch,
                         const cubin::Function& kernel, const LaunchRequest& request,
                         const config::Machine& machine, std::uint32_t local_bytes,
                         std::uint64_t launch_id, std::uint64_t grid_workspace);

/// Where __constant__ variables lie as generic addresses: a pointer to one is this plus its offset
/// in the bank (PTX: cvta.const), and what lies below is global memory (isspacep.global).
void set_constant_window(const sass::Launch& launch, std::span<std::byte> bank0);

/// Gives the launch the shared memory that the system reserves in each CTA, from sm_80 on, and
/// tells the kernel where it is (PTX: %reserved_smem_offset).
void add_reserved_shared(sass::Launch& launch, std::span<std::byte> bank0);

/// Bytes of constant bank 0 of a kernel.
std::uint32_t constant_bank0_bytes(const cubin::Function& kernel);

/// Rows of the program's literals, as of now.
class LiteralTable {
  public:
    void fill(const sass::Program& program,
              const std::array<std::span<const std::byte>, 32>& constant);
    const std::byte* data() const { return reinterpret_cast<const std::byte*>(rows_.data()); }

  private:
    std::vector<sass::Row> rows_;
};

}  // namespace lockstep::gpu
