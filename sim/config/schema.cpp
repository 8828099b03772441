// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.h"

#include <algorithm>

#include "sim/config/row.h"
#include "sim/error/error.h"

namespace lockstep::config {

const Kind* find_kind(std::string_view name) {
    for (const Kind& kind : kinds())
        if (kind.name == name) return &kind;
    return nullptr;
}

std::size_t chosen(const Machine& machine, std::string_view path, std::span<const Choice> choices) {
    const auto at = std::ranges::find(choices, std::string_view(machine.text(path)), &Choice::name);
    LOCKSTEP_CHECK(at != choices.end(), "{} of {} is none of its choices", path, machine.name());
    return static_cast<std::size_t>(at - choices.begin());
}

}  // namespace lockstep::config
