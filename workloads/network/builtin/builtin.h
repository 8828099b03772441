// SPDX-License-Identifier: Apache-2.0
// Networks and single operators that need no file: the published shapes, seeded weights.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

struct BuiltinOptions {
    std::map<std::string, std::int64_t>
        parameters;  ///< as batch, seq; what is not given has its default
    std::uint64_t seed = 1;
    bool with_values = true;  ///< false: shapes only (for timing without values)
};

struct BuiltinParameter {
    std::string_view name;
    std::int64_t otherwise;  ///< the default
    std::int64_t minimum = 1;
    std::int64_t maximum = 65536;
};

struct BuiltinNetwork {
    std::string_view name;
    std::string_view description;
    std::vector<BuiltinParameter> parameters;
    Graph (*build)(const std::map<std::string, std::int64_t>& parameters, std::uint64_t seed,
                   bool with_values);
};

/// All, in alphabetical order.
const std::vector<BuiltinNetwork>& builtin_networks();

/// `name[:key=value,...]` taken apart.
struct BuiltinRequest {
    std::string name;
    BuiltinOptions options;
    /// Of `dtype=`: the type to compute in. Networks are built in fp32; see quantise.h and bf16.h.
    std::optional<ElementType> dtype;
};
/// InputError where it is malformed or a key is given twice; names are not looked up.
BuiltinRequest parse_builtin(std::string_view text);

/// InputError where the name or a parameter does not exist, or a parameter is out of range.
Graph build_network(std::string_view name, const BuiltinOptions& options);

}  // namespace lockstep::network
