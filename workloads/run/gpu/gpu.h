// SPDX-License-Identifier: Apache-2.0
// What runs on a GPU: CUDA executables, kernels of cubins and fatbins, built-in kernels.
#pragma once

#include "models/device.h"
#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// Emulator or cycle model, as the job says.
std::unique_ptr<Device> make_gpu(const Job& job, const MachinePtr& machine);
/// The same on the job's machine. Throws InputError where that is no GPU.
std::unique_ptr<Device> make_gpu(const Job& job);

/// This process becomes the program, with our CUDA runtime library in front of the real one; it
/// prints and writes the statistics itself. Does not return.
Outcome run_executable(const Job& job, const Subject& subject, const MachinePtr& machine,
                       Screen& screen);

/// One kernel, with the arguments that the job gives.
Outcome run_cubin(const Job& job, const Subject& subject, const MachinePtr& machine,
                  Screen& screen);

/// The launches of a built-in kernel, checked where asked for.
Outcome run_workload(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen);

}  // namespace lockstep::run
