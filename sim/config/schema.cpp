// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.h"

namespace lockstep::config {

const Kind* find_kind(std::string_view name) {
    for (const Kind& kind : kinds())
        if (kind.name == name) return &kind;
    return nullptr;
}

}  // namespace lockstep::config
