// SPDX-License-Identifier: Apache-2.0
// What of this process is mapped, read without the heap: from a signal's handler, too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/process/image_file.h"

namespace lockstep::process {

inline constexpr std::size_t kMostMappings = 16384, kTextBytes = 4 << 20;

struct MappingTable {
    Mapping mappings[kMostMappings];
    char text[kTextBytes];  ///< /proc/self/maps; free for other use afterwards
};

/// Fills the table; how many there are, 0 where they do not fit or cannot be read. `has_shared`:
/// whether memory is shared with other processes, writably.
std::size_t read_mappings(MappingTable& table, bool& has_shared);

/// Where this thread's own variables lie.
std::uint64_t thread_base();

}  // namespace lockstep::process
