// SPDX-License-Identifier: Apache-2.0
// Device-side library functions that a cubin leaves undefined and the driver provides: vprintf,
// malloc, free, __assertfail.
#pragma once

#include <cstdint>
#include <functional>
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

    void set_output(Output output) { output_ = std::move(output); }
    void set_heap_bytes(std::uint64_t bytes) { heap_bytes_ = bytes; }

    /// Performs call `number` for the lanes of warp.mask, in ascending order.
    void call(unsigned number, sass::Warp& warp);

  private:
    memory::DeviceMemory& memory_;
    Output output_;
    std::uint64_t heap_bytes_ = 8ull << 20;  ///< CUDA's default cudaLimitMallocHeapSize
};

}  // namespace lockstep::gpu
