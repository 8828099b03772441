// SPDX-License-Identifier: Apache-2.0
// The buffers of a TPU or NPU program, as --arg gives them.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "isa/command/program.h"
#include "isa/command/storage.h"
#include "workloads/run/job.h"

namespace lockstep::run {

class ProgramArguments {
  public:
    /// job.kernel_arguments are those of the program's inputs and outputs, in its order: in:FILE,
    /// random, zeros or iota for an input, out:FILE for an output. Inputs that have none are
    /// random. Throws InputError.
    ProgramArguments(const Job& job, const command::Program& program);

    void fill(command::Storage& storage);
    /// Shows the outputs' checksums, writes those that have a file.
    void take_results(command::Storage& storage, Screen& screen) const;

  private:
    const command::Program& program_;
    std::mt19937_64 random_;
    std::vector<std::size_t> buffers_;
    std::vector<std::string> texts_;
};

}  // namespace lockstep::run
