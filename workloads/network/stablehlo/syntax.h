// SPDX-License-Identifier: Apache-2.0
// A StableHLO module as it is written: functions of operations, whichever of the two forms each was
// printed in. Source: StableHLO specification (openxla/stablehlo, docs/spec.md), MLIR language
// reference.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "workloads/network/graph/tensor.h"

namespace lockstep::network::stablehlo {

struct TensorType {
    ElementType type = ElementType::kFp32;
    Shape shape;
    bool operator==(const TensorType&) const = default;
};

/// The value of an attribute. A list holds values; a dictionary, and what stands in angle brackets
/// after a name (`#stablehlo.gather<...>`), holds them by key. Names, strings and symbols are text.
struct AttributeValue {
    using List = std::vector<AttributeValue>;
    using Dictionary = std::map<std::string, AttributeValue, std::less<>>;
    std::variant<std::int64_t, double, std::string, List, Dictionary, std::shared_ptr<const Tensor>>
        value = std::int64_t{0};
};

struct Operation;

struct Argument {
    std::string name;  ///< "%arg0"
    TensorType type;
};

struct Region {
    std::vector<Argument> arguments;
    std::vector<Operation> operations;  ///< the last one returns
};

struct Operation {
    int line = 0;
    std::string name;                   ///< "stablehlo.add", "func.call", "return"
    std::vector<std::string> results;   ///< "%0", or "%0#0" and "%0#1" where there are several
    std::vector<std::string> operands;  ///< likewise
    AttributeValue::Dictionary attributes;
    std::vector<std::string> words;  ///< of the form without keys: the direction of a comparison
    std::vector<Region> regions;
    std::vector<TensorType> result_types;
};

struct Function {
    std::string name;  ///< "main"
    Region body;
};

struct Module {
    std::string name;
    std::map<std::string, Function, std::less<>> functions;
    std::string first;  ///< the function that is written first
};

/// Reads a module's text; `file` is for messages. Throws InputError with file and line.
Module parse_module(std::string_view text, const std::string& file);

}  // namespace lockstep::network::stablehlo
