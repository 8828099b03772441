// SPDX-License-Identifier: Apache-2.0
// What `lockstep run` was asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/device.h"
#include "workloads/cuda_api/state/make_device.h"

namespace lockstep::cli {

struct RunRequest {
    std::string what;                    ///< a file, or workload[:key=value,...]
    std::vector<std::string> arguments;  ///< after `--`, for executables
    cuda::RunOptions options;
    bool verify = false;
    bool no_values = false;        ///< only time (TPU, systolic)
    bool schedule = false;         ///< print the compiled program (networks on a TPU)
    std::string selection_option;  ///< --kernel, --launch-skip or --launch-count: the last given
    std::string program_file;      ///< where to write the program (TPU), or empty

    // For cubins.
    std::string cubin_option;  ///< one of these options that was given, or none
    std::string grid = "1", block = "1";
    std::vector<std::string> kernel_arguments;
    std::uint32_t dynamic_shared_bytes = 0;
};

/// Decides what request.what is and runs it; returns the exit status.
int run(const RunRequest& request);

// The kinds of things that run on a GPU.
int run_executable(const RunRequest& request, std::span<const std::uint8_t> bytes);
int run_cubin(const RunRequest& request, std::span<const std::uint8_t> bytes);
int run_workload(const RunRequest& request);

/// Whole contents of a file. Throws InputError.
std::vector<std::uint8_t> read_file(const std::string& path);

}  // namespace lockstep::cli
