// SPDX-License-Identifier: Apache-2.0
#include "tests/paths.h"

namespace lockstep {

std::string source_path(const std::string& relative) {
    return relative.empty() ? LOCKSTEP_SOURCE_DIR : LOCKSTEP_SOURCE_DIR "/" + relative;
}

std::string binary_path(const std::string& relative) {
    return relative.empty() ? LOCKSTEP_BINARY_DIR : LOCKSTEP_BINARY_DIR "/" + relative;
}

}  // namespace lockstep
