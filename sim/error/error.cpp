// SPDX-License-Identifier: Apache-2.0
#include "sim/error/error.h"

namespace lockstep {

void internal_error(const char* file, int line, const std::string& message) {
    throw InternalError(fmt::format("internal check failed at {}:{}: {}", file, line, message));
}

}  // namespace lockstep
