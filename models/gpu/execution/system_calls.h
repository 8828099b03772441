// SPDX-License-Identifier: Apache-2.0
// Device-side library functions that a cubin leaves undefined and the driver provides: vprintf,
// malloc, free, __assertfail.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

#include "isa/sass/state.h"
#include "models/memory/global_memory.h"

namespace lockstep::gpu {

/// Code address of a function by its name. Unknown functions have one too: calling it is a fault
/// that names the function.
std::uint64_t system_call_address(std::string_view name);

class SystemCalls {
  public:
    using Output = std::function<void(std::string_view)>;

    explicit SystemCalls(memory::DeviceMemory& memory);

    /// Where printf goes (default: stdout), and failed assertions (default: stderr).
    void set_output(Output output) { output_ = std::move(output); }
    void set_error_output(Output output) { error_output_ = std::move(output); }
    void set_heap_bytes(std::uint64_t bytes) { heap_bytes_ = bytes; }
    /// Is told of each block that a kernel allocates: its address and bytes.
    using Allocated = std::function<void(std::uint64_t, std::uint64_t)>;
    void set_allocated(Allocated allocated) { allocated_ = std::move(allocated); }

    /// Performs call `number` for the lanes of warp.mask, in ascending order. Throws sass::Fault.
    void call(unsigned number, sass::Warp& warp);

    /// Blocks that kernels have freed so far: warps may remember their extents.
    std::uint64_t frees() const { return frees_; }

  private:
    void print(sass::Warp& warp);
    void allocate(sass::Warp& warp);
    void release(sass::Warp& warp);
    void fail_assertion(sass::Warp& warp);

    memory::DeviceMemory& memory_;
    Output output_, error_output_;
    Allocated allocated_ = [](std::uint64_t, std::uint64_t) {};
    std::uint64_t heap_bytes_ = 8ull << 20;  ///< CUDA's default cudaLimitMallocHeapSize
    std::uint64_t heap_used_ = 0;
    std::uint64_t frees_ = 0;
    std::map<std::uint64_t, std::uint64_t> heap_blocks_;  ///< address -> bytes charged
};

}  // namespace lockstep::gpu
