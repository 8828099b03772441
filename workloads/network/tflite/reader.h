// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's int8 models (.tflite) as graphs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// Reads a model quantised to int8. The graph has the names and order of dimensions of all others
/// (images are NCHW), its values are int8 with the model's scales, shapes inferred; with
/// Requantisation::kTfLite it computes what TensorFlow Lite's reference kernels do, to the bit.
/// InputError with file and offset or reason; where operators are not supported, one error that
/// lists all of them.
Graph read_tflite(const std::filesystem::path& file);
Graph parse_tflite(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace lockstep::network
