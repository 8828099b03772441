// SPDX-License-Identifier: Apache-2.0
// The families of built-in workloads; one file each.
#pragma once

#include <vector>

#include "workloads/cuda/workload.h"

namespace lockstep::cuda {

std::vector<Workload> attention_workloads();
std::vector<Workload> classification_workloads();
std::vector<Workload> convolution_workloads();
std::vector<Workload> divergence_workloads();
std::vector<Workload> elementwise_workloads();
std::vector<Workload> gemm_workloads();
std::vector<Workload> hopper_gemm_workloads();
std::vector<Workload> micro_workloads();
std::vector<Workload> normalisation_workloads();
std::vector<Workload> pooling_workloads();
std::vector<Workload> reduction_workloads();
std::vector<Workload> tensor_copy_workloads();

/// The largest size of one dimension; products are checked by Run::count.
inline constexpr std::int64_t kMaxSize = 1 << 30;

/// A size parameter.
inline ParameterInfo size_parameter(std::string name, std::int64_t default_value,
                                    std::string meaning, std::int64_t maximum = kMaxSize) {
    return {std::move(name), default_value, 1, maximum, std::move(meaning)};
}

}  // namespace lockstep::cuda
