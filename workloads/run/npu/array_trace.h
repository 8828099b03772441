// SPDX-License-Identifier: Apache-2.0
// --trace x.vcd: the first convolution of an NPU program once more, on the netlist of the array.
#pragma once

#include <functional>
#include <optional>

#include "isa/npu/semantics/window_rows.h"
#include "models/npu/npu.h"
#include "workloads/run/job.h"

namespace lockstep::run {

class ArrayTrace {
  public:
    /// Throws InputError where job.trace_file is a .vcd that a run without values cannot give.
    ArrayTrace(const Job& job, const npu::Parameters& parameters);

    /// RunOptions::observe: keeps the operands of the first convolution.
    std::function<void(const npu::Instruction&, npu::State&)> observer();
    /// Writes the file and says what it shows. Throws InputError where there was no convolution,
    /// the array is too large or the file cannot be written, InternalError where the netlist's
    /// cycles are not the model's.
    void write(Screen& screen) const;

  private:
    const Job& job_;
    const npu::Parameters& parameters_;
    std::optional<npu::Instruction> instruction_;
    std::optional<npu::CentredImage> image_;
    npu::WeightMatrix weights_;
};

}  // namespace lockstep::run
