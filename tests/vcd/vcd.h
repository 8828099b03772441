// SPDX-License-Identifier: Apache-2.0
// Reads a value change dump as strictly as IEEE 1364 defines it, strings (which it does not) too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct Vcd {
    struct Variable {
        std::string type;
        /// Values from times on, the initial one at 0. Strings without their escapes.
        std::vector<std::pair<std::uint64_t, std::string>> values;
        /// The value at a time.
        std::string at(std::uint64_t time) const;
    };
    std::string timescale;
    std::map<std::string, Variable> variables;  ///< by path: "sm0.sub_core1.warp"
    std::uint64_t end = 0;                      ///< the last time

    /// Throws std::runtime_error with the line and what is wrong.
    static Vcd parse(const std::string& text);
    static Vcd read(const std::string& path);
};

}  // namespace lockstep
