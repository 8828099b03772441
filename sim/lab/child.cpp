// SPDX-License-Identifier: Apache-2.0
// fork and exec: between the two only what a process of several threads may call then. Resident
// memory is looked at several times a second, for models reserve far more than they touch.
#include "sim/lab/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "sim/error/error.h"

namespace lockstep::lab {

namespace {

constexpr int kLookEveryMilliseconds = 50;

class Pipe {
  public:
    Pipe() {
        if (pipe2(ends_, O_CLOEXEC) != 0)
            throw InputError(fmt::format("no pipe to a process: {}", std::strerror(errno)));
    }
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    int end(int which) const { return ends_[which]; }
    void close_end(int which) {
        if (ends_[which] >= 0) close(ends_[which]);
        ends_[which] = -1;
    }

  private:
    int ends_[2] = {-1, -1};
};

std::uint64_t resident_bytes(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/statm", pid));
    std::uint64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void become(const char* program, char* const* arguments, const char* folder,
                         const ChildLimits& limits, const int (&streams)[3]) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    for (int i = 0; i < 3; ++i) dup2(streams[i], i);
    const rlimit no_core{0, 0}, file{limits.file_bytes, limits.file_bytes};
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_FSIZE, &file);
    if (chdir(folder) == 0) execv(program, arguments);
    _exit(127);
}

/// What can be read now; false at the end.
bool read_some(int from, std::string& into) {
    std::array<char, 65536> buffer;
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    into.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
}

}  // namespace

ChildResult run_child(const std::string& program, const std::vector<std::string>& words,
                      const std::string& input, const std::string& folder,
                      const ChildLimits& limits, const std::atomic<bool>& stop) {
    std::vector<std::string> all = {"lockstep"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    Pipe in, out, err;
    const int streams[3] = {in.end(0), out.end(1), err.end(1)};
    const pid_t pid = fork();
    if (pid < 0) throw InputError(fmt::format("no process: {}", std::strerror(errno)));
    if (pid == 0) become(program.c_str(), arguments.data(), folder.c_str(), limits, streams);
    in.close_end(0);
    out.close_end(1);
    err.close_end(1);
    fcntl(in.end(1), F_SETFL, O_NONBLOCK);

    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    ChildResult result;
    std::string reason;
    std::size_t written = 0;
    bool is_out_open = true, is_err_open = true;
    while ((is_out_open || is_err_open) && reason.empty()) {
        if (written == input.size()) in.close_end(1);
        pollfd ends[3] = {{is_out_open ? out.end(0) : -1, POLLIN, 0},
                          {is_err_open ? err.end(0) : -1, POLLIN, 0},
                          {in.end(1), POLLOUT, 0}};
        poll(ends, 3, kLookEveryMilliseconds);
        if (ends[0].revents != 0) is_out_open = read_some(out.end(0), result.output);
        if (ends[1].revents != 0) is_err_open = read_some(err.end(0), result.errors);
        if ((ends[2].revents & POLLOUT) != 0) {
            const ssize_t count = write(in.end(1), input.data() + written, input.size() - written);
            if (count > 0) written += static_cast<std::size_t>(count);
        } else if ((ends[2].revents & (POLLERR | POLLHUP)) != 0) {
            in.close_end(1);
            written = input.size();
        }
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        if (stop.load())
            reason = "the server ends";
        else if (seconds > limits.seconds)
            reason = fmt::format("this took longer than {:.0f} s", limits.seconds);
        else if (result.output.size() + result.errors.size() > limits.output)
            reason = "this printed too much";
        else if (resident_bytes(pid) > limits.bytes)
            reason = fmt::format("this took more than {} MiB of memory", limits.bytes >> 20);
    }
    if (!reason.empty()) kill(pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (!reason.empty()) return {static_cast<int>(ExitStatus::kInputError), result.output, reason};
    if (WIFSIGNALED(status)) {
        result.status = static_cast<int>(ExitStatus::kInternalError);
        result.errors += fmt::format("the process ended by signal {}\n", WTERMSIG(status));
    } else {
        result.status = WEXITSTATUS(status);
    }
    return result;
}

ScratchFolder::ScratchFolder() {
    path_ = std::filesystem::temp_directory_path() / "lockstep_lab_XXXXXX";
    if (mkdtemp(path_.data()) == nullptr)
        throw InputError(fmt::format("{}: cannot be made: {}", path_, std::strerror(errno)));
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace lockstep::lab
