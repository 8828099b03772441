// SPDX-License-Identifier: Apache-2.0
// StableHLO modules as text (.mlir: what JAX and PyTorch/XLA print) as graphs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

struct StablehloOptions {
    /// As many of the main function's first arguments are trained weights and not inputs: models
    /// that were exported with their parameters as arguments. Floating ones only.
    std::int64_t weights = 0;
    /// Of those weights' values; nothing: they have shapes only.
    std::uint64_t seed = 1;
    bool with_values = true;
};

/// Reads a file: its function @main, or the first where there is none, with all that it calls. The
/// graph is validated and shapes are inferred. InputError with file and line; operations that are
/// not supported are listed in one error.
Graph read_stablehlo(const std::filesystem::path& file, const StablehloOptions& options = {});

/// The same from memory; `name` is for messages.
Graph parse_stablehlo(std::string_view text, const std::string& name,
                      const StablehloOptions& options = {});

}  // namespace lockstep::network
