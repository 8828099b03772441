// SPDX-License-Identifier: Apache-2.0
// Networks that need no file: the published shapes, seeded weights.
#pragma once

#include "workloads/network/graph.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::network {

struct BuiltinOptions {
    std::map<std::string, int64_t>
        parameters;  ///< as batch, seq; what is not given has its default
    uint64_t seed = 1;
    bool with_values = true;  ///< false: shapes only (for timing without values)
};

struct BuiltinNetwork {
    std::string_view name;
    std::string_view description;
    std::vector<std::pair<std::string_view, int64_t>> parameters;  ///< names and defaults
    Graph (*build)(const std::map<std::string, int64_t>& parameters, uint64_t seed,
                   bool with_values);
};

/// All, in alphabetical order.
const std::vector<BuiltinNetwork>& builtin_networks();

/// InputError where the name or a parameter does not exist, or a parameter is out of range.
Graph build_network(std::string_view name, const BuiltinOptions& options);

}  // namespace lockstep::network
