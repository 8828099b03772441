// SPDX-License-Identifier: Apache-2.0
// ONNX files (opset 11 to 17) as graphs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

struct OnnxOptions {
    /// Extents of the inputs' symbolic dimensions, by name ("batch").
    std::map<std::string, std::int64_t> dimensions;
};

/// Reads a file; external weights are looked up beside it. The graph is validated and its constants
/// hold data; shapes are not yet inferred. InputError with file, and offset or reason; where
/// operators or attributes are not supported, one error that lists all of them by node.
Graph read_onnx(const std::filesystem::path& file, const OnnxOptions& options = {});

/// The same from memory; `name` is for messages, external weights are looked up in `folder`, and
/// refused where it is empty.
Graph parse_onnx(std::span<const std::uint8_t> bytes, const std::string& name,
                 const std::filesystem::path& folder = {}, const OnnxOptions& options = {});

}  // namespace lockstep::network
