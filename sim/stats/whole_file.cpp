// SPDX-License-Identifier: Apache-2.0
// A file is written without a name where the file system knows such, so that nothing is left of it
// when the process is killed, and put in the place of an older one by renaming. The moment in which
// it has a name of its own is safe from signals.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "sim/error/error.h"
#include "sim/stats/statistics.h"

namespace lockstep::stats {
namespace {

/// What exists and is no ordinary file cannot be replaced by one: /dev/stdout, a pipe.
bool is_device(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

/// The file is written under this name and then takes its own.
std::string temporary_name(const std::string& path) {
    return fmt::format("{}.{}.part", path, getpid());
}

/// Where the path leads: a link stays one.
std::string without_links(const std::string& path) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::canonical(path, error);
    return error ? path : target.string();
}

[[noreturn]] void cannot_write(const std::string& path, int error) {
    throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

/// Signals that end the process wait while one of these lives.
class SignalsHeld {
  public:
    SignalsHeld() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeld(const SignalsHeld&) = delete;

  private:
    sigset_t before_;
};

std::FILE* open_nameless(const std::string& target) {
    const std::filesystem::path folder = std::filesystem::absolute(target).parent_path();
    const int file = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    return file >= 0 ? fdopen(file, "wb") : nullptr;
}

/// Gives the open file a name. False: errno says why.
bool name(std::FILE* file, const std::string& path) {
    const std::string open_file = fmt::format("/proc/self/fd/{}", fileno(file));
    return linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

bool fill(std::FILE* file, std::string_view contents) {
    return std::fwrite(contents.data(), 1, contents.size(), file) == contents.size() &&
           std::fflush(file) == 0;
}

void write_device(const std::string& path, std::string_view contents) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) cannot_write(path, errno);
    const bool is_written = fill(file, contents);
    const int reason = errno;
    std::fclose(file);
    if (!is_written) cannot_write(path, reason);
}

}  // namespace

void write_whole(const std::string& path, std::string_view contents) {
    if (is_device(path)) return write_device(path, contents);
    const std::string target = without_links(path), temporary = temporary_name(target);
    std::FILE* file = open_nameless(target);
    bool is_good = file != nullptr && fill(file, contents);
    int reason = errno;
    const SignalsHeld held;
    if (is_good && !name(file, temporary)) {
        std::fclose(file);
        file = nullptr;
    }
    if (file == nullptr) {
        file = std::fopen(temporary.c_str(), "wb");
        if (file == nullptr) cannot_write(path, errno);
        is_good = fill(file, contents);
        reason = errno;
    }
    std::fclose(file);
    if (is_good && std::rename(temporary.c_str(), target.c_str()) == 0) return;
    if (is_good) reason = errno;
    std::remove(temporary.c_str());
    cannot_write(path, reason);
}

void check_writable(const std::string& path) {
    if (std::filesystem::is_directory(path)) cannot_write(path, EISDIR);
    if (is_device(path)) return;  // to open a pipe could wait for its reader
    const std::string temporary = temporary_name(without_links(path));
    const SignalsHeld held;
    std::FILE* const file = std::fopen(temporary.c_str(), "wb");
    if (file == nullptr) cannot_write(path, errno);
    std::fclose(file);
    std::remove(temporary.c_str());
}

}  // namespace lockstep::stats
