// SPDX-License-Identifier: Apache-2.0
// The contents of host memory and memory: only the program's buffers exist.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isa/command/program.h"

namespace lockstep::command {

struct FreeMemory {
    void operator()(void* memory) const { std::free(memory); }
};
/// Zeros that take no host memory until they are touched.
template <typename T>
using Zeros = std::unique_ptr<T[], FreeMemory>;
/// `count` of them, or nullptr where the host has no room.
template <typename T>
Zeros<T> zeros(std::size_t count) {
    return Zeros<T>(static_cast<T*>(std::calloc(count + 1, sizeof(T))));
}

class Storage {
  public:
    /// Makes the buffers; `with_values`: with their contents (segments, else zeros).
    Storage(const Program& program, bool with_values);

    /// The buffer that holds [begin, end) whole, or nullptr.
    const Buffer* find(Id space, std::uint64_t begin, std::uint64_t end) const;
    /// Why there is none: names the nearest buffer.
    std::string explain(Id space, std::uint64_t begin, std::uint64_t end) const;

    /// The contents from an address to the end of its buffer. The range must exist.
    std::span<std::uint8_t> at(Id space, std::uint64_t address);
    /// The contents of a buffer of the program.
    std::span<std::uint8_t> contents(std::size_t buffer) {
        return {contents_[buffer].get(), buffers_[buffer].bytes};
    }

  private:
    std::size_t index_at(Id space, std::uint64_t address) const;  // or buffers_.size()

    const Description* isa_;  // for messages
    std::vector<Buffer> buffers_;
    std::vector<std::size_t> by_place_;  // sorted by space and address
    std::vector<Zeros<std::uint8_t>> contents_;
};

}  // namespace lockstep::command
