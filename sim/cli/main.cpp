// SPDX-License-Identifier: Apache-2.0
// The lockstep program: parses the command line and turns errors into messages and exit statuses.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "sim/cli/verbs.h"
#include "sim/error/error.h"

int main(int argc, char** argv) {
    using lockstep::ExitStatus;
    CLI::App app("Lockstep: simulator and emulator of the machines that run neural networks",
                 "lockstep");
    app.require_subcommand(1);
    int status = 0;
    lockstep::cli::add_demo(app, status);
    lockstep::cli::add_run(app, status);
    lockstep::cli::add_machines(app, status);
    lockstep::cli::add_workloads(app, status);
    lockstep::cli::add_disasm(app, status);
    try {
        app.parse(argc, argv);
        std::fflush(stdout);
        return status;
    } catch (const CLI::Success& request) {  // --help
        return app.exit(request);
    } catch (const CLI::ParseError& error) {
        fmt::print(stderr, "lockstep: {} (see --help)\n", error.what());
        return static_cast<int>(ExitStatus::kInputError);
    } catch (const lockstep::Error& error) {
        std::fflush(stdout);
        fmt::print(stderr, "lockstep: {}\n", error.what());
        return static_cast<int>(error.status());
    } catch (const std::exception& error) {
        std::fflush(stdout);
        fmt::print(stderr, "lockstep: internal error: {}\n", error.what());
        return static_cast<int>(ExitStatus::kInternalError);
    }
}
