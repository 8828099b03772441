// SPDX-License-Identifier: Apache-2.0
// The lockstep program: parses the command line and turns errors into messages and exit statuses.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "sim/cli/verbs.h"
#include "sim/config/nearest.h"
#include "sim/engine/host_memory.h"
#include "sim/error/error.h"

namespace {

/// Moves what stands behind the first `--` out of the command line: it is the program's, and the
/// parser would read lists and options into it.
lockstep::cli::Words take_after_dashes(int& argc, char** argv) {
    char** const end = argv + argc;
    char** const dashes =
        std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
    if (dashes == end) return {};
    argc = static_cast<int>(dashes - argv);
    return {dashes + 1, end};
}

/// A verb that does not exist is named, with the nearest one.
void check_verb(const CLI::App& app, int argc, char** argv) {
    if (argc < 2) throw lockstep::InputError("a verb is missing\n\n" + app.help());
    if (argv[1][0] == '-') return;
    std::vector<std::string> verbs;
    for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
    if (std::find(verbs.begin(), verbs.end(), argv[1]) != verbs.end()) return;
    const std::string near = lockstep::config::nearest(argv[1], verbs);
    throw lockstep::InputError(
        near.empty() ? fmt::format("unknown verb '{}' (see --help)", argv[1])
                     : fmt::format("unknown verb '{}'; did you mean {}?", argv[1], near));
}

}  // namespace

int main(int argc, char** argv) {
    using lockstep::ExitStatus;
    lockstep::engine::prepare_host_memory();
    CLI::App app("Lockstep: simulator and emulator of the machines that run neural networks",
                 "lockstep");
    app.require_subcommand(1);
    int status = 0;
    const lockstep::cli::Words after_dashes = take_after_dashes(argc, argv);
    lockstep::cli::add_demo(app, after_dashes, status);
    lockstep::cli::add_run(app, after_dashes, status);
    lockstep::cli::add_machines(app, status);
    lockstep::cli::add_workloads(app, status);
    lockstep::cli::add_disasm(app, status);
    lockstep::cli::add_compare(app, status);
    try {
        check_verb(app, argc, argv);
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
    } catch (const std::bad_alloc&) {
        std::fflush(stdout);
        fmt::print(stderr, "lockstep: this needs more memory than the system gives\n");
        return static_cast<int>(ExitStatus::kInputError);
    } catch (const std::exception& error) {
        std::fflush(stdout);
        fmt::print(stderr, "lockstep: internal error: {}\n", error.what());
        return static_cast<int>(ExitStatus::kInternalError);
    }
}
