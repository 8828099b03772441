// SPDX-License-Identifier: Apache-2.0
// A CUDA executable is a process of its own that loads the simulator as its runtime library, so
// each is started by `lockstep run`, and its statistics are read back.
#include "validation/compare/silicon_programs.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "sim/error/error.h"
#include "sim/stats/statistics.h"
#include "validation/accuracy/gpu_class.h"

extern char** environ;

namespace lockstep::validation {

namespace {

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

int spawn(std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) != 0)
        throw InputError("this program can't be started a second time");
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
        for (const auto& [name, value] : step.at("metrics").items())
            if (value.is_number())
                kernel.metrics.emplace_back(name, stats::Value(value.get<double>()));
        const auto cycles = step.at("metrics").find("sm__cycles_elapsed.max");
        if (cycles != step.at("metrics").end()) out.cycles += cycles->get<double>();
        const auto time = step.at("metrics").find("gpu__time_duration.sum");
        if (time != step.at("metrics").end()) out.seconds += kNano * time->get<double>();
        statistics.add(std::move(kernel));
    }
    out.work_class = gpu_class(statistics);
    return out;
}

}  // namespace lockstep::validation
