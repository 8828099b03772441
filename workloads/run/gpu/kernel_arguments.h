// SPDX-License-Identifier: Apache-2.0
// The arguments of a cubin's kernel, as --arg gives them: numbers, and buffers with what is in
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/device.h"

namespace lockstep::run {

class KernelArguments {
  public:
    KernelArguments(const cubin::Function& kernel, Device& device, std::uint64_t seed)
        : kernel_(kernel),
          device_(device),
          random_(seed * 2 + 1),
          packed_(kernel.parameter_bytes) {}

    /// The kernel's argument `index` (from 0): 42, 1.5, zeros:BYTES, iota:BYTES, random:BYTES,
    /// in:FILE, out:BYTES:FILE or inout:FILE:FILE. Throws InputError.
    void add(std::size_t index, const std::string& text);
    std::span<const std::byte> packed() const { return packed_; }
    /// After the run. Throws InputError.
    void write_outputs() const;

  private:
    /// A buffer that is written to a file after the run.
    struct Output {
        DevicePointer address;
        std::uint64_t bytes;
        std::string file;
    };

    [[noreturn]] void fail(std::size_t index, const std::string& text,
                           const std::string& why) const {
        throw InputError(fmt::format("--arg {} (argument {}): {}", text, index + 1, why));
    }
    std::uint64_t byte_count(std::size_t index, const std::string& text,
                             std::string_view digits) const;
    void put(std::size_t index, const std::string& text, const void* value, std::size_t bytes);
    DevicePointer buffer(std::size_t index, const std::string& text, std::uint64_t bytes);
    void add_buffer(std::size_t index, const std::string& text, std::size_t colon);
    void add_number(std::size_t index, const std::string& text);

    const cubin::Function& kernel_;
    Device& device_;
    std::uint64_t random_;
    std::vector<std::byte> packed_;
    std::vector<Output> outputs_;
};

}  // namespace lockstep::run
