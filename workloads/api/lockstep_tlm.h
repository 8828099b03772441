// SPDX-License-Identifier: Apache-2.0
// A GPU in a SystemC virtual platform: a TLM-2.0 target socket for the host, and initiator sockets
// for memories in place of its DRAM. Compile with SC_CPLUSPLUS=201703L (Debian's SystemC is built
// so) and link with lockstep::lockstep and SystemC. Make it before sc_start(); the GPU then runs in
// your simulation, at SystemC's time. One in a process.
//
// What the host sees, from address 0 of the socket (all registers have 64 bits, little-endian, and
// are read and written whole):
//
//   0x000  ID              ro  0x31303050'53434F4C, "LOCSP001" in ASCII
//   0x008  MEMORY_ADDRESS  ro  device address of the memory window's first byte: what kernels are
//   given 0x010  MEMORY_BYTES    ro  of the window 0x018  MODULE_OFFSET   rw  where in the window a
//   cubin or fatbin lies 0x020  MODULE_BYTES    rw 0x028  MODULE          rw  number of a loaded
//   module: written by command 1, read by command 2 0x030  KERNEL_OFFSET   rw  where in the window
//   the kernel's name lies, ended by a zero byte 0x038  PARAMETER_OFFSET rw where in the window the
//   kernel's parameter area lies, packed as CUDA does 0x040  GRID_X, 0x048 GRID_Y, 0x050 GRID_Z,
//   0x058 BLOCK_X, 0x060 BLOCK_Y, 0x068 BLOCK_Z   rw 0x070  SHARED_BYTES    rw  dynamic shared
//   memory 0x080  COMMAND         wo  the doorbell. 1: load a module; 2: launch 0x088  STATUS ro  0
//   idle, 1 busy, 2 done, 3 failed (ERROR says why). A command while busy
//                              is refused: TLM_COMMAND_ERROR_RESPONSE. A kernel that faults ends
//                              the GPU: every later command fails
//   0x090  CYCLES          ro  of the last kernel
//   0x098  LAUNCHES        ro  kernels that have ended
//   0x0a0  ERROR_BYTES     ro  length of the text at ERROR
//   0x800  ERROR           ro  2048 bytes, read at any width
//   0x1000'0000            rw  the memory window: GPU memory, any width
//
// A write takes the link's latency and its bytes' time, a read the latency both ways (link.* of the
// machine); a command begins host.launch_latency after its write.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

#include "lockstep/lockstep.h"

namespace lockstep::api {

class LOCKSTEP_API GpuTlm : public sc_core::sc_module {
  public:
    static constexpr std::uint64_t kId = 0x3130305053434F4Cull;
    static constexpr std::uint64_t kMemory = 0x10000000, kErrorText = 0x800, kErrorBytes = 2048;
    enum Register : std::uint64_t {
        kIdRegister = 0x00,
        kMemoryAddress = 0x08,
        kMemoryBytes = 0x10,
        kModuleOffset = 0x18,
        kModuleBytes = 0x20,
        kModule = 0x28,
        kKernelOffset = 0x30,
        kParameterOffset = 0x38,
        kGridX = 0x40,
        kGridY = 0x48,
        kGridZ = 0x50,
        kBlockX = 0x58,
        kBlockY = 0x60,
        kBlockZ = 0x68,
        kSharedBytes = 0x70,
        kCommand = 0x80,
        kStatus = 0x88,
        kCycles = 0x90,
        kLaunches = 0x98,
        kErrorLength = 0xa0,
    };
    enum Command : std::uint64_t { kLoad = 1, kLaunch = 2 };
    enum Status : std::uint64_t { kIdle = 0, kBusy = 1, kDone = 2, kFailed = 3 };

    struct Options {
        std::uint64_t memory_bytes = 64ull << 20;  ///< of the window
        unsigned threads = 1;
        bool warm_l2 = false;
        /// As in DeviceOptions: what sc_find_object finds below this module.
        bool signals = false;
        unsigned first_sm = 0, last_sm = 0;
        /// Not 0: the GPU's DRAM is yours. Each memory partition has a socket, which takes so many
        /// requests in an SM's cycle.
        unsigned dram_requests_per_cycle = 0;
    };

    /// Throws Error 2 where the machine is no GPU or lacks the memory.
    GpuTlm(const sc_core::sc_module_name& name, const Machine& machine, const Options& options);
    ~GpuTlm() override;

    tlm_utils::simple_target_socket<GpuTlm> host{"host"};

    /// Memory partitions whose DRAM is yours, 0 where it is not, and their sockets: each is to be
    /// bound. Transactions carry timing alone (address, size, direction; values stay with the GPU);
    /// b_transport must not wait(): it adds its latency to the delay.
    std::size_t dram_ports() const;
    tlm::tlm_initiator_socket<>& dram_port(std::size_t i);

    /// Rises when a command has ended, falls when STATUS is read or a command begins.
    sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> interrupt{"interrupt"};

  private:
    SC_HAS_PROCESS(GpuTlm);
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    void run_commands();

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::api
