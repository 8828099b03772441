// SPDX-License-Identifier: Apache-2.0
// A network as a GPU computes it: simplified, rewritten where an operator has no kernel of its own,
// in the precision that was asked for, with seeded inputs.
#pragma once

#include "workloads/network/compile/prepare.h"
#include "workloads/network/compile/verify.h"
#include "workloads/network/gpu/executable.h"

namespace lockstep::network::gpu {

/// "fp32", "tf32", "fp16", "bf16", "int8", "fp8". InputError that names those there are.
Precision precision_named(const std::string& name);

/// Rewrites what has no kernel; shapes are inferred afterwards.
void legalise(Graph& graph);

/// InputError where the machine has no such Tensor Cores.
compile::Prepared prepare(Graph graph, const Target& target, Precision precision,
                          std::uint64_t seed);

/// Against the reference executor in FP64: the error may be a few times that of the executor in the
/// same precision. Integers must be equal where all is computed in them.
std::vector<compile::Check> verify(const compile::Prepared& network, Precision precision,
                                   const std::vector<Tensor>& results);

}  // namespace lockstep::network::gpu
