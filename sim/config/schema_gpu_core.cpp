// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_sections.h"

namespace lockstep::config {

std::span<const Entry> gpu_core() {
    return {};
}

}  // namespace lockstep::config
