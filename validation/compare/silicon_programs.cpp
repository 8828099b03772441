// SPDX-License-Identifier: Apache-2.0
// A CUDA executable is a process of its own that loads the simulator as its runtime library, so
// each is started by `lockstep run`, and its statistics are read back.
#include "validation/compare/silicon_programs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "sim/stats/statistics.h"
#include "validation/accuracy/gpu_class.h"

extern char** environ;

namespace lockstep::validation {

namespace {

constexpr std::string_view kAllMachines = "all";
constexpr double kNano = 1e-9;  // gpu__time_duration is in nanoseconds

/// A file that is gone at the end.
class Scratch {
  public:
    Scratch() {
        path_ = (std::filesystem::temp_directory_path() / "lockstep-silicon-XXXXXX").string();
        const int file = mkstemp(path_.data());
        if (file < 0) throw InputError(fmt::format("{}: cannot be made", path_));
        ::close(file);
        std::filesystem::remove(path_);
        path_ += ".json";
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// Runs this program with other words; what it prints is dropped, its errors are not.
int spawn(std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int refused =
        posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (refused != 0) throw InputError("this program can't be started a second time");
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

SimulatedProgram simulate_program(const std::string& path, const std::string& machine,
                                  const std::string& overrides, const std::string& l2) {
    const Scratch stats;
    std::vector<std::string> words = {"lockstep", "run",     path,         "--on",
                                      machine,    "--stats", stats.path(), "--quiet",
                                      "--bounds", "page",    "--l2",       l2};
    std::istringstream list(overrides);
    for (std::string override_text; list >> override_text;) {
        words.emplace_back("--set");
        words.push_back(override_text);
    }
    const int status = spawn(words);
    std::ifstream file(stats.path());
    if (status != 0 || !file) throw InputError(fmt::format("{}: ended with {}", path, status));
    const nlohmann::json json = nlohmann::json::parse(file);
    stats::Statistics statistics(machine, "cycle", path);
    SimulatedProgram out;
    for (const auto& step : json.at("steps")) {
        stats::Step kernel{.name = step.at("name")};
        KernelMetrics& metrics = out.kernels.emplace_back();
        for (const auto& [name, value] : step.at("metrics").items()) {
            if (!value.is_number()) continue;
            kernel.metrics.emplace_back(name, stats::Value(value.get<double>()));
            metrics.emplace(name, value.get<double>());
        }
        const auto cycles = metrics.find("sm__cycles_elapsed.max");
        if (cycles != metrics.end()) out.cycles += cycles->second;
        const auto time = metrics.find("gpu__time_duration.sum");
        if (time != metrics.end()) out.seconds += kNano * time->second;
        statistics.add(std::move(kernel));
    }
    out.work_class = gpu_class(statistics);
    return out;
}

std::optional<SimulatedRow> simulate_row(const Table& silicon, std::size_t row,
                                         const Request& request) {
    const auto path = [&](const char* column) {
        return request.programs + "/" + silicon.text(row, "set") + "/" + silicon.text(row, column);
    };
    const bool has_less = silicon.text(row, "less") != "-";
    if (!std::filesystem::exists(path("program")) ||
        (has_less && !std::filesystem::exists(path("less"))))
        return std::nullopt;
    if (request.progress) fmt::print(stderr, "\r\033[K{}", path("program"));
    const std::string& overrides = silicon.text(row, "overrides");
    const auto take = [&](const char* column) {
        return simulate_program(path(column), silicon.text(row, "machine"),
                                overrides == "-" ? "" : overrides, silicon.text(row, "l2"));
    };
    return SimulatedRow{take("program"), has_less ? take("less") : SimulatedProgram{}};
}

void check_programs(const Request& request) {
    if (request.machine != kAllMachines) config::Machine::load(request.machine);
    if (!request.programs.empty() && !std::filesystem::is_directory(request.programs))
        throw InputError(fmt::format("--programs {}: no such folder", request.programs));
}

bool is_asked_for(const Request& request, const std::string& machine) {
    return request.machine == kAllMachines || request.machine == machine;
}

void no_row(const Request& request, std::string_view suite) {
    throw InputError(fmt::format("suite {} has no row of machine '{}'{}", suite, request.machine,
                                 request.programs.empty()
                                     ? ""
                                     : " whose executable is in " + request.programs +
                                           " (SET/PROGRAM; see validation/README.md)"));
}

}  // namespace lockstep::validation
