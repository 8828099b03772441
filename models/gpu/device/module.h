// SPDX-License-Identifier: Apache-2.0
// A cubin loaded onto a GPU: its globals in device memory, its code relocated and ready to bind,
// its constant banks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/cubin/cubin.h"
#include "isa/cubin/line_table.h"
#include "isa/sass/program.h"
#include "models/memory/global_memory.h"

namespace lockstep::gpu {

/// Where __constant__ variables are.
inline constexpr unsigned kUserConstantBank = 3;

class Module {
  public:
    /// Allocates and initialises variables, applies relocations. Throws InputError where a symbol
    /// cannot be resolved, naming it.
    Module(const cubin::Cubin& cubin, memory::DeviceMemory& memory);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    const cubin::Function* find_kernel(std::string_view name) const;
    /// Device address and bytes of a __device__ or __constant__ variable; {0, 0}: none.
    std::pair<std::uint64_t, std::uint64_t> find_variable(std::string_view name) const;

    /// The kernel's code, bound; first is its code index.
    const sass::Program& bind(const cubin::Function& kernel, std::uint32_t& first);
    const sass::Program& program() const { return program_; }
    /// Whether the kernel, bound, takes stack of which its attributes do not say how much. Where
    /// they say that it is unknown (calls that might be recursive, and many that are not), whether
    /// the kernel or a device function moves the stack pointer at all; else whether the kernel
    /// moves it by a register, or without having a frame (alloca).
    bool has_unknown_stack(const cubin::Function& kernel);
    /// Bytes of a constant bank other than 0 as this kernel sees it.
    std::span<const std::byte> constant_bank(const cubin::Function& kernel, unsigned bank) const;
    /// Whether the kernel, or a device function it might call, calls into the device runtime.
    bool makes_system_calls(const cubin::Function& kernel) const;
    /// "file.cu:12" of the instruction at a code index, where the cubin says; else "".
    std::string source_line(std::uint32_t index);

  private:
    std::uint64_t symbol_value(const cubin::Symbol& symbol) const;
    void place_sections();
    bool takes_unknown_stack(const cubin::Function& kernel, std::uint32_t first) const;
    void relocate(std::vector<std::vector<std::uint8_t>>& code);

    cubin::Cubin cubin_;
    memory::DeviceMemory& memory_;
    sass::Program program_;
    std::vector<std::uint32_t> first_;                 ///< code index of each function
    std::vector<std::uint64_t> address_;               ///< of each section in device memory, or 0
    std::optional<cubin::LineTable> lines_;            ///< read when it is first asked
    std::map<std::uint32_t, bool> has_unknown_stack_;  ///< by code index, of kernels launched
};

}  // namespace lockstep::gpu
