// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_sections.h"

namespace lockstep::config {

std::span<const Entry> gpu_memory_unit() {
    return {};
}

}  // namespace lockstep::config
