// SPDX-License-Identifier: Apache-2.0
// O_TMPFILE, then linkat() of /proc/self/fd and rename(): open(2) describes the pair. Where a file
// cannot be linked, or was made elsewhere, it is copied under a temporary name first.
#include "sim/file/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sim/error/error.h"

namespace lockstep::file {

namespace fs = std::filesystem;

namespace {

bool is_device(const std::string& path) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// Where the path leads.
std::string without_links(const std::string& path) {
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    return error ? fs::absolute(path).string() : target.string();
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
    const int file =
        open(fs::path(target).parent_path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    return file >= 0 ? fdopen(file, "w+b") : nullptr;
}

/// Gives the open file a name. False: errno says why.
bool name(std::FILE* file, const std::string& path) {
    const std::string open_file = fmt::format("/proc/self/fd/{}", fileno(file));
    return linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

}  // namespace

std::FILE* open_scratch(const std::string& path) {
    std::FILE* const file = open_nameless(fs::absolute(path).string());
    return file != nullptr ? file : std::tmpfile();
}

NewFile::NewFile(const std::string& path, Scratch scratch)
    : path_(path), target_(without_links(path)) {
    if (fs::is_directory(target_)) {
        errno = EISDIR;
        fail();
    }
    if (is_device(path_)) {
        is_published_ = true;
        stream_ = std::fopen(path_.c_str(), "wb");
        if (stream_ == nullptr) fail();
        return;
    }
    if (scratch == Scratch::kBeside) stream_ = open_nameless(target_);
    is_beside_ = stream_ != nullptr;
    if (is_beside_) return;
    // Whether a file can be made there at all, its folder says now.
    if (access(fs::path(target_).parent_path().c_str(), W_OK | X_OK) != 0) fail();
    stream_ = std::tmpfile();
    if (stream_ == nullptr) fail();
}

NewFile::~NewFile() {
    std::fclose(stream_);
}

void NewFile::publish() {
    if (std::fflush(stream_) != 0) fail();
    if (is_published_) return;
    const std::string temporary = fmt::format("{}.{}.part", target_, getpid());
    const SignalsHeld held;
    if (!is_beside_ || !name(stream_, temporary)) copy_to(temporary);
    if (std::rename(temporary.c_str(), target_.c_str()) != 0) {
        const int reason = errno;
        std::remove(temporary.c_str());
        errno = reason;
        fail();
    }
    is_published_ = true;
}

void NewFile::copy_to(const std::string& temporary) {
    std::FILE* const copy = std::fopen(temporary.c_str(), "wb");
    if (copy == nullptr) fail();
    std::rewind(stream_);
    std::array<char, 1 << 16> piece;
    bool is_good = true;
    for (std::size_t bytes = 0;
         is_good && (bytes = std::fread(piece.data(), 1, piece.size(), stream_)) != 0;)
        is_good = std::fwrite(piece.data(), 1, bytes, copy) == bytes;
    is_good = is_good && std::ferror(stream_) == 0 && std::fflush(copy) == 0;
    if (!is_good) {
        const int reason = errno;
        std::fclose(copy);
        std::remove(temporary.c_str());
        errno = reason;
        fail();
    }
    std::fclose(stream_);
    stream_ = copy;
}

void NewFile::fail() const {
    throw InputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

}  // namespace lockstep::file
