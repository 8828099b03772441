// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/gpu/device.h"

#include "workloads/cuda_api/state/make_device.h"
#include "workloads/run/gpu/gpu.h"

namespace lockstep::run {

cuda::RunOptions cuda_options(const Job& job) {
    cuda::RunOptions options;
    options.machine = job.machine;
    options.mode = name_of(job.mode);
    options.overrides = job.overrides;
    options.threads = job.threads;
    options.seed = job.seed;
    options.max_instructions = job.max_instructions;
    options.stats_file = job.stats_file;
    options.bounds = job.bounds;
    options.checks = job.checks;
    options.energy = job.energy;
    options.l2 = job.l2;
    options.sample = job.sample;
    options.kernel = job.kernel;
    options.launch_skip = job.launch_skip;
    options.launch_count = job.launch_count;
    options.trace_file = job.trace_file;
    options.trace_window = job.trace_window;
    options.trace_sms = job.trace_sms;
    options.workload = job.what;
    options.options = job.options;
    options.screen_file = job.screen_file;
    options.source = job.source;
    options.quiet = job.quiet;
    return options;
}

std::unique_ptr<Device> make_gpu(const Job& job, const MachinePtr& machine) {
    const DeviceOptions options = cuda::device_options(cuda_options(job));
    return job.mode == Mode::kEmulate ? make_emulator(machine, options)
                                      : make_simulator(machine, options);
}

std::unique_ptr<Device> make_gpu(const Job& job) {
    return make_gpu(job, cuda::load_machine(cuda_options(job)));
}

}  // namespace lockstep::run
