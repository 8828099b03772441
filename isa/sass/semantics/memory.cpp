// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/binder.h"

namespace lockstep::sass {
std::span<const BindEntry> memory_semantics() {
    return {};
}
}  // namespace lockstep::sass
