// SPDX-License-Identifier: Apache-2.0
// What a memory at the chip's edge is asked, and answers.
#pragma once

#include <cstdint>

namespace lockstep::engine {

struct MemoryRequest {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    bool write = false;
    std::uint64_t tag = 0;         ///< comes back in the response
    std::uint8_t* data = nullptr;  ///< read or written until the response; null: only time counts
};

struct MemoryResponse {
    std::uint64_t tag = 0;
};

}  // namespace lockstep::engine
