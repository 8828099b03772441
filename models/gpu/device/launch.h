// SPDX-License-Identifier: Apache-2.0
// Everything about a launch that does not depend on how it is run: limits, constant bank 0, the
// literal table, and the memory of a CTA's warps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "isa/cubin/cubin.h"
#include "isa/sass/async_engine.h"
#include "isa/sass/state.h"
#include "models/device.h"
#include "models/gpu/device/module.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {

/// Throws LaunchRefused where the machine cannot run the launch.
void check_launch(const config::Machine& machine, const cubin::Function& kernel,
                  const LaunchRequest& request);

/// Whether the CTAs are members of clusters, be they of one CTA.
bool is_clustered(const cubin::Function& kernel, const LaunchRequest& request);

/// Shared memory that a CTA gets where it asks for so much.
std::uint32_t granted_shared_bytes(std::uint32_t bytes);

/// Registers that a warp of the kernel occupies: granted 8 a thread, 256 a warp.
std::uint32_t warp_registers(const cubin::Function& kernel);

/// CTAs of a kernel that one SM holds at once, as each resource alone would have it.
struct Occupancy {
    std::uint32_t by_ctas = 0, by_warps = 0, by_registers = 0, by_shared_memory = 0;
    std::uint32_t ctas() const;
};
Occupancy occupancy(const config::Machine& machine, const cubin::Function& kernel,
                    std::uint32_t threads, std::uint32_t dynamic_shared_bytes);

/// CTAs of this kernel that one SM holds at once, by warps, threads, registers, shared memory.
std::uint32_t resident_ctas(const config::Machine& machine, const cubin::Function& kernel,
                            std::uint32_t threads, std::uint32_t dynamic_shared_bytes);

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

/// A CTA with the memory of its warps, shared and local memory. Worth keeping from launch to
/// launch: the host's memory is touched for the first time once.
class CtaStorage {
  public:
    CtaStorage() = default;
    explicit CtaStorage(sass::Launch& launch) { prepare(launch); }
    CtaStorage(const CtaStorage&) = delete;
    CtaStorage& operator=(const CtaStorage&) = delete;

    /// For CTAs of this launch from now on; start() must follow.
    void prepare(sass::Launch& launch);
    /// Sets the CTA to its initial state: registers zero, all threads at the kernel's entry.
    void start(std::uint64_t linear_index);
    sass::Cta& cta() { return cta_; }
    std::span<sass::Warp> warps() { return warps_; }
    /// Who performs the CTA's asynchronous copies from now on.
    template <typename Engine>
    Engine& perform_copies_by(std::unique_ptr<Engine> engine) {
        Engine& performer = *engine;
        async_ = std::move(engine);
        cta_.async = &performer;
        return performer;
    }

  private:
    /// What decides where everything lies.
    struct Shape {
        std::uint32_t threads = 0, rows = 0, local_bytes = 0, shared_bytes = 0;
        bool operator==(const Shape&) const = default;
    };
    void lay_out();

    sass::Launch* launch_ = nullptr;
    Shape shape_;
    sass::Cta cta_;
    std::unique_ptr<sass::AsyncEngine> async_;
    std::vector<sass::Warp> warps_;
    // Never shorter than a launch before needed them.
    std::vector<sass::Row> rows_, local_, shared_;
};

/// Storage that waits for a launch in emulation.
class CtaPool {
  public:
    std::unique_ptr<CtaStorage> take(sass::Launch& launch);
    /// Beyond what launches take at a time as a rule, storage goes back to the host.
    void give_back(std::unique_ptr<CtaStorage> storage);

  private:
    std::vector<std::unique_ptr<CtaStorage>> spare_;
};

}  // namespace lockstep::gpu
