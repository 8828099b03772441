// SPDX-License-Identifier: Apache-2.0
// The driver holds a PTX compiler; the stand-alone one of the toolkit is the same code. It is run
// without a shell, on files in a directory of its own that is removed afterwards, whatever happens.
#include "isa/cubin/ptxas.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "sim/error/error.h"

extern char** environ;

namespace lockstep::cubin {

namespace {

namespace fs = std::filesystem;

/// A new directory, removed with what it holds when this goes out of scope.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        std::string name = (fs::temp_directory_path() / "lockstep-ptxas-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw InputError(fmt::format("{}: cannot make a temporary directory", name));
        path_ = name;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Runs a program with stdout and stderr going to `log`; returns its exit status, or -1.
int run(const std::vector<std::string>& arguments, const fs::path& log) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    // What was preloaded into the simulated program is not for its compiler.
    std::vector<char*> environment;
    for (char** variable = environ; *variable != nullptr; ++variable)
        if (std::string_view(*variable).substr(0, 11) != "LD_PRELOAD=")
            environment.push_back(*variable);
    environment.push_back(nullptr);
    pid_t child = 0;
    const int error =
        posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return -1;
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The options of the file that may be passed on. Others could name files to be overwritten.
std::vector<std::string> safe_options(std::string_view options) {
    static const std::regex kSafe(
        "-O[0-4]|--?(fmad|maxrregcount|def-load-cache|dlcm)=[a-z0-9]{1,8}|"
        "--?(opt-level|O)=?[0-4]");
    std::vector<std::string> result;
    std::istringstream words{std::string(options)};
    for (std::string word; words >> word;)
        if (std::regex_match(word, kSafe)) result.push_back(word);
    return result;
}

}  // namespace

std::string find_ptxas() {
    std::vector<std::string> directories;
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
            directories.push_back(std::string(value) + "/bin");
    if (const char* value = std::getenv("PATH"); value != nullptr) {
        std::istringstream path(value);
        for (std::string directory; std::getline(path, directory, ':');)
            if (!directory.empty()) directories.push_back(directory);
    }
    directories.push_back("/usr/local/cuda/bin");
    for (const std::string& directory : directories) {
        const std::string file = directory + "/ptxas";
        if (access(file.c_str(), X_OK) == 0) return file;
    }
    return {};
}

std::vector<uint8_t> compile_ptx(std::span<const uint8_t> ptx, std::string_view target,
                                 std::string_view options, std::string_view file_name) {
    const std::string ptxas = find_ptxas();
    if (ptxas.empty())
        throw InputError(
            fmt::format("{}: it has PTX but no code for {}, and no ptxas is installed (looked in "
                        "CUDA_PATH/bin, "
                        "CUDA_HOME/bin, PATH and /usr/local/cuda/bin); compile with -arch={}",
                        file_name, target, target));
    const TemporaryDirectory directory;
    const fs::path source = directory.path() / "in.ptx", result = directory.path() / "out.cubin",
                   log = directory.path() / "log";
    std::ofstream(source, std::ios::binary)
        .write(reinterpret_cast<const char*>(ptx.data()), static_cast<std::streamsize>(ptx.size()));
    std::vector<std::string> arguments = {ptxas, fmt::format("-arch={}", target), source.string(),
                                          "-o", result.string()};
    for (std::string& option : safe_options(options)) arguments.push_back(std::move(option));
    const int status = run(arguments, log);
    if (status != 0)
        throw InputError(fmt::format("{}: {} -arch={} failed on its PTX (status {}): {}", file_name,
                                     ptxas, target, status, read_file(log)));
    const std::string cubin = read_file(result);
    return {cubin.begin(), cubin.end()};
}

}  // namespace lockstep::cubin
