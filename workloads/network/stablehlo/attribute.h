// SPDX-License-Identifier: Apache-2.0
// Types and attributes of MLIR's text.
#pragma once

#include <map>
#include <string>

#include "workloads/network/stablehlo/lexer.h"
#include "workloads/network/stablehlo/syntax.h"

namespace lockstep::network::stablehlo {

/// The bytes behind dense_resource<NAME>, by name: hexadecimal digits as they stand in the file.
using Resources = std::map<std::string, std::string_view, std::less<>>;

/// What `{-# dialect_resources: {builtin: {...}} #-}` at a file's end holds. Takes it off `text`.
Resources take_resources(std::string_view& text, const std::string& file);

/// tensor<2x3xf32>. Refuses shapes that are not static and element types that networks here have
/// not.
TensorType parse_type(Lexer& lexer);

/// T, or (T, U).
std::vector<TensorType> parse_types(Lexer& lexer);

/// A number, without the type that may stand behind it.
AttributeValue parse_number(Lexer& lexer);

AttributeValue parse_attribute(Lexer& lexer, const Resources& resources);

/// {key = value, ...}, <{...}> or <...>, whose opening mark was taken; `close` ends it.
AttributeValue::Dictionary parse_dictionary(Lexer& lexer, const Resources& resources,
                                            std::string_view close);

/// [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1] as lists of texts: input, kernel, output.
AttributeValue parse_convolution_dimensions(Lexer& lexer);

/// The values of `dense<raw> : type`. One value for all elements gives a tensor without dimensions.
Tensor parse_dense(std::string_view raw, const TensorType& type, const Lexer& lexer);

/// Little-endian bytes, two hexadecimal digits each.
Tensor parse_bytes(std::string_view digits, const TensorType& type, const Lexer& lexer);

}  // namespace lockstep::network::stablehlo
