// SPDX-License-Identifier: Apache-2.0
// The lockstep program: parses the command line and turns errors into messages and exit statuses.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "sim/cli/verbs.h"
#include "sim/config/nearest.h"
#include "sim/engine/host_memory.h"
#include "sim/error/error.h"
#include "sim/stats/version.h"
#include "sim/terminal/colour.h"

namespace {

/// A file that is opened later must not take the number of a standard stream that was closed: what
/// is printed would end in it.
void open_standard_streams() {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
        if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) open("/dev/null", O_RDWR);
}

/// What is wrong; does not throw where standard error cannot be written either.
void report_error(const std::string& what) {
    const std::string line = fmt::format("lockstep: {}\n", what);
    std::fputs(lockstep::terminal::error_for(STDERR_FILENO, line).c_str(), stderr);
}

/// The program's status: what could not be printed, for a full disk, is an error too.
int after_printing(int status) {
    const bool was_cut = std::ferror(stdout) != 0;
    if (std::fflush(stdout) == 0 && !was_cut) return status;
    report_error(std::string("standard output: cannot be written") +
                 (was_cut ? "" : std::string(": ") + std::strerror(errno)));
    return status != 0 ? status : static_cast<int>(lockstep::ExitStatus::kInputError);
}

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

/// The option of the verb that an unknown one was meant to be; "": none is near.
std::string nearest_option(const CLI::App& app) {
    for (const CLI::App* const verb : app.get_subcommands()) {
        std::vector<std::string> names;
        for (const CLI::Option* const option : verb->get_options())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& word : verb->remaining())
            if (const std::string near =
                    lockstep::config::nearest(word.substr(0, word.find('=')), names);
                word.starts_with("--") && !near.empty())
                return near;
    }
    return "";
}

}  // namespace

int main(int argc, char** argv) {
    using lockstep::ExitStatus;
    open_standard_streams();
    lockstep::engine::prepare_host_memory();
    CLI::App app("Lockstep: simulator and emulator of the machines that run neural networks",
                 "lockstep");
    app.require_subcommand(1);
    app.footer(
        "The script ./lockstep at the root also has the verb test: build and run every test.");
    app.set_version_flag("--version", [] {
        const std::string_view commit = lockstep::stats::commit();
        return fmt::format("lockstep {}{}", lockstep::stats::version(),
                           commit.empty() ? "" : fmt::format(" ({})", commit));
    });
    int status = 0;
    const lockstep::cli::Words after_dashes = take_after_dashes(argc, argv);
    lockstep::cli::add_demo(app, after_dashes, status);
    lockstep::cli::add_run(app, after_dashes, status);
    lockstep::cli::add_machines(app, status);
    lockstep::cli::add_workloads(app, status);
    lockstep::cli::add_disasm(app, status);
    lockstep::cli::add_choose(app, status);
    lockstep::cli::add_compare(app, status);
    lockstep::cli::add_diff(app, status);
    lockstep::cli::add_docs(app, status);
    lockstep::cli::add_sweep(app, after_dashes, status);
    lockstep::cli::add_completion(app, after_dashes, status);
    lockstep::cli::add_lab(app, status);
    for (CLI::App* const verb : app.get_subcommands({}))
        verb->add_option_function<std::string>("--color", lockstep::terminal::choose_colour,
                                               "colour in reports and errors (auto: on terminals, "
                                               "unless NO_COLOR is set)")
            ->check(CLI::IsMember({"auto", "always", "never"}));
    try {
        check_verb(app, argc, argv);
        app.parse(argc, argv);
        return after_printing(status);
    } catch (const CLI::Success& request) {  // --help, --version
        return after_printing(app.exit(request));
    } catch (const CLI::ExtrasError& error) {
        const std::string near = nearest_option(app);
        report_error(error.what() +
                     (near.empty() ? " (see --help)" : fmt::format("; did you mean {}?", near)));
        return static_cast<int>(ExitStatus::kInputError);
    } catch (const CLI::ParseError& error) {
        report_error(std::string(error.what()) + " (see --help)");
        return static_cast<int>(ExitStatus::kInputError);
    } catch (const lockstep::Error& error) {
        std::fflush(stdout);
        report_error(error.what());
        return static_cast<int>(error.status());
    } catch (const std::bad_alloc&) {
        std::fflush(stdout);
        report_error("this needs more memory than the system gives");
        return static_cast<int>(ExitStatus::kInputError);
    } catch (const std::exception& error) {
        if (std::ferror(stdout) != 0) return after_printing(0);
        std::fflush(stdout);
        report_error(std::string("internal error: ") + error.what());
        return static_cast<int>(ExitStatus::kInternalError);
    }
}
