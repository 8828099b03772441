// SPDX-License-Identifier: Apache-2.0
// What makes the library a program's runtime: on being loaded it reads how to run, and when the
// program ends it writes the statistics and sees to it that neither a fault that nobody asked about
// nor what the checks have found is taken for success.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "models/energy/account.h"
#include "sim/config/machine_text.h"
#include "sim/stats/sha256.h"
#include "sim/stats/version.h"
#include "validation/accuracy/accuracy.h"
#include "workloads/cuda_api/state/context.h"
#include "workloads/cuda_api/state/make_device.h"

namespace lockstep::cuda {
namespace {

pid_t process = 0;

/// Runs after everything else the program registered for its end, because it was registered first.
void at_exit(int status, void*) {
    if (getpid() != process) return;  // a child that was forked off
    Context& context = Context::current();
    flush_output();
    try {
        context.finish();
        context.print_summary();
        context.write_statistics();
    } catch (const lockstep::Error& error) {
        end_process(error.status(), error.what());
    }
    if ((status == 0 && context.has_unseen_fault()) || context.has_findings())
        _exit(static_cast<int>(ExitStatus::kProgramFault));
}

/// The run's files belong to this process: what it starts must not write them too.
void take_files() {
    unsetenv("LOCKSTEP_STATS");
    unsetenv("LOCKSTEP_TRACE");
    unsetenv("LOCKSTEP_SCREEN");
    process = getpid();
    on_exit(at_exit, nullptr);
}

/// The program may change its folder before it writes a file.
void make_absolute(std::string& file, const char* variable) {
    if (file.empty()) return;
    file = std::filesystem::absolute(file);
    setenv(variable, file.c_str(), 1);
}

__attribute__((constructor)) void start() {
    Configuration configuration;
    try {
        RunOptions options = RunOptions::from_environment();
        if (!options.stats_file.empty()) stats::Statistics::check_path(options.stats_file);
        make_absolute(options.stats_file, "LOCKSTEP_STATS");
        make_absolute(options.trace_file, "LOCKSTEP_TRACE");
        make_absolute(options.screen_file, "LOCKSTEP_SCREEN");
        configuration.make_device = [options] { return make_device(options); };
        // Made with the device: when the program ends, other libraries' static data has gone.
        const auto account = std::make_shared<std::optional<energy::Account>>();
        configuration.make_statistics = [options, account](const Device& device) {
            if (options.energy) account->emplace(load_machine(options));
            auto statistics = std::make_unique<stats::Statistics>(device.machine().name(),
                                                                  options.mode, options.workload);
            statistics->set_origin(
                {.version = std::string(stats::version()),
                 .commit = std::string(stats::commit()),
                 .machine_file = options.machine,
                 .machine_sha256 = stats::sha256(config::machine_text(options.machine)),
                 .overrides = options.overrides,
                 .options = options.options,
                 .seed = options.seed});
            return statistics;
        };
        if (options.energy)
            configuration.complete = [account](stats::Statistics& statistics) {
                (*account)->add_to(statistics);
            };
        if (options.mode == "cycle" && (!options.quiet || options.source))
            configuration.summarize = [options](const stats::Statistics& statistics) {
                return (options.quiet ? ""
                                      : speed_of_light(statistics) + energy::report(statistics)) +
                       (options.quiet || !options.overrides.empty()
                            ? ""
                            : validation::expectation_text(statistics)) +
                       (options.source ? stats::source_text(statistics) : "");
            };
        configuration.stats_file = options.stats_file;
        configuration.screen_file = options.screen_file;
        configuration.device_threads = options.threads;
    } catch (const lockstep::Error& error) {
        end_process(error.status(), error.what());
    }
    // A program that may never use the device, like a shell, leaves the files to what it starts.
    if (std::getenv("LOCKSTEP_PRELOADED") != nullptr)
        configuration.on_first_use = take_files;
    else
        take_files();
    Context::current().configure(std::move(configuration));
}

}  // namespace

/// The loader's way to end the process, from outside of this C library.
LOCKSTEP_CUDA void lockstep_end_process(int status, const char* message) {
    end_process(static_cast<ExitStatus>(status), message);
}

}  // namespace lockstep::cuda
