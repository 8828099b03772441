// SPDX-License-Identifier: Apache-2.0
// The state of a training on disk: what is needed to go on as if it had never stopped.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "workloads/network/graph/tensor.h"

namespace lockstep::network {

struct Checkpoint {
    std::string network;         ///< its name, with what defines it
    std::uint64_t seed = 0;      ///< of data and order
    std::uint64_t epoch = 1;     ///< that is being trained, from 1
    std::uint64_t position = 0;  ///< batches of this epoch that are done
    std::uint64_t step = 0;      ///< that were done in all
    double loss_sum = 0;         ///< of this epoch's batches
    double loss_scale = 1;
    std::uint64_t good_steps = 0;  ///< since the loss scale changed
    std::vector<std::pair<std::string, Tensor>> variables;

    bool operator==(const Checkpoint&) const = default;
};

/// "LSTRAIN1", the bytes of a JSON header (8, little-endian), the header, the tensors' bytes one
/// after the other, and a SHA-256 of all before it as 64 hexadecimal digits.
std::string to_bytes(const Checkpoint& checkpoint);
/// InputError with `name`, offset and reason on anything malformed.
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name);

/// Whole or not at all: a file of that name is replaced at once. InputError.
void write_checkpoint(const Checkpoint& checkpoint, const std::string& path);
Checkpoint read_checkpoint(const std::string& path);

}  // namespace lockstep::network
