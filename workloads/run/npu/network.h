// SPDX-License-Identifier: Apache-2.0
// Networks on an NPU: quantised, compiled, run and checked.
#pragma once

#include "models/npu/npu.h"
#include "workloads/network/npu/compile.h"
#include "workloads/network/npu/prepare.h"
#include "workloads/run/job.h"
#include "workloads/run/npu/target.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

Outcome run_npu_network(const Job& job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen);

/// A network that is ready to run.
struct NpuRun {
    network::compile::Prepared network;
    network::NpuCompiled code;
    network::NpuTarget target;
};

/// The job's network in floats, with rules applied for what NPUs lack. Throws InputError.
network::Graph legal_npu_network(const Job& job, const Subject& subject);
NpuRun compile_npu_network(const network::Graph& legal, const network::NpuPrecision& precision,
                           const npu::Parameters& parameters, const Job& job);
/// The inputs into a program's buffers, and its results out of them.
void put_npu_inputs(const NpuRun& compiled, command::Storage& storage);
std::vector<network::Tensor> npu_results(const NpuRun& compiled, command::Storage& storage);
/// The host's driver; both must outlive it.
std::function<void(std::uint32_t)> npu_host(const NpuRun& compiled, command::Storage& storage);
/// Compares the results with the reference's; outcome.passed is whether they are those.
void verify_npu_network(const NpuRun& compiled, command::Storage& storage, Outcome& outcome,
                        Screen& screen);

/// The counters of a network in time, without values: job.what on job.machine, all else as the
/// machine has it. Throws InputError where the machine is no NPU.
npu::RunResult time_npu_network(const Job& job);

}  // namespace lockstep::run
