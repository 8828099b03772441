// SPDX-License-Identifier: Apache-2.0
// Any bytes as a checkpoint of a training: InputError, or one that is written as it was read. The
// checksum is made right, for no fuzzer guesses it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/error/error.h"
#include "sim/stats/sha256.h"
#include "workloads/network/train/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace lockstep;
    std::string bytes = "LSTRAIN1" + std::string(reinterpret_cast<const char*>(data), size);
    bytes += stats::sha256(bytes);
    try {
        const network::Checkpoint checkpoint = network::parse_checkpoint(bytes, "input");
        const std::string written = network::to_bytes(checkpoint);
        if (network::parse_checkpoint(written, "written") != checkpoint) std::abort();
    } catch (const InputError&) {
    }
    return 0;
}
