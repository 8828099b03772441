// SPDX-License-Identifier: Apache-2.0
// Built-in workloads: kernels of this folder with inputs, launches and a check, each under a plain
// name with named parameters, as `sgemm:m=512,n=512,k=512`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/device.h"

namespace lockstep::cuda {

class Run;

/// A parameter of a workload; all are integers.
struct ParameterInfo {
    std::string name;
    std::int64_t default_value;
    std::int64_t minimum, maximum;
    std::string meaning;  ///< one line
};

struct Workload {
    std::string name;
    std::string summary;  ///< one line
    std::vector<ParameterInfo> parameters;
    std::function<void(Run&)> body;  ///< fills the inputs, launches, checks, measures
    int only_arch = 0;               ///< the compute capability that it needs; 0: any
    bool runs_on(std::int64_t arch) const { return only_arch == 0 || only_arch == arch; }
};

/// Every parameter of a workload by name.
using Parameters = std::map<std::string, std::int64_t, std::less<>>;

/// One launch of a workload.
struct LaunchRecord {
    std::string kernel;
    sass::Dim3 grid, block;
    LaunchResult result;
};

/// One output compared with the reference.
struct CheckRecord {
    std::string output;
    bool passed = false;
    std::uint64_t elements = 0;
    double worst = 0;     ///< largest error as a fraction of its tolerance; 1 or less passes
    std::string message;  ///< where and how much, for a person
};

/// What a microbenchmark measured, by the machine's own clocks. Without meaning in emulation, whose
/// clocks only count.
struct Measurement {
    std::string name;
    double value = 0;
    std::string unit;
};

struct Outcome {
    std::vector<LaunchRecord> launches;
    std::vector<CheckRecord> checks;  ///< empty where verification was not asked for
    std::vector<Measurement> measurements;
    bool passed() const;
};

/// All built-in workloads of this folder, by name.
const std::vector<Workload>& workloads();

/// Throws InputError that names the nearest workload where there is none of this name.
const Workload& find_workload(std::string_view name);

/// A product that is named by the type of its operands: `gemm:dtype=int8,m=512` is `igemm:m=512`.
inline constexpr std::string_view kProduct = "gemm";

/// A workload's name and the text of its parameters.
struct WorkloadText {
    std::string name, parameters;
};

/// Splits `name[:parameters]`, and `gemm[:...]` by its dtype (fp32, which is the default, fp16,
/// int8). Throws InputError on other types.
WorkloadText parse_workload(std::string_view text);

/// Reads `key=value,key=value` (may be empty); what is not given has its default. Throws InputError
/// on unknown or repeated keys, on what is not an integer, and on values out of range.
Parameters parse_parameters(const Workload& workload, std::string_view text);

/// Runs a workload on a device. Inputs depend on parameters and seed alone. With `verify`, results
/// are compared with a host computation. Throws InputError where there is no kernel image for the
/// device's architecture or its memory is too small, and what Device::launch throws.
Outcome run_workload(const Workload& workload, const Parameters& parameters, std::uint64_t seed,
                     bool verify, Device& device);

}  // namespace lockstep::cuda
