// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sim/error/error.h"

namespace lockstep::trace {

std::FILE* open_nameless(const std::string& path) {
    const int file = open(std::filesystem::absolute(path).parent_path().c_str(),
                          O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return file >= 0 ? fdopen(file, "w+b") : std::tmpfile();
}

OutputFile::OutputFile(const std::string& path)
    : path_(std::filesystem::absolute(path)),
      temporary_(fmt::format("{}.{}.part", path_, getpid())) {
    if (std::filesystem::is_directory(path_)) {
        errno = EISDIR;
        fail();
    }
    // A file without a name goes with the process; some file systems have none.
    const int nameless = open(std::filesystem::path(path_).parent_path().c_str(),
                              O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    is_nameless_ = nameless >= 0;
    file_ = is_nameless_ ? fdopen(nameless, "wb") : std::fopen(temporary_.c_str(), "wb");
    if (file_ == nullptr) fail();
}

OutputFile::~OutputFile() {
    if (temporary_.empty()) std::fwrite(buffer_.data(), 1, buffer_.size(), file_);
    std::fclose(file_);
    if (!temporary_.empty() && !is_nameless_) std::remove(temporary_.c_str());
}

void OutputFile::take_name() {
    if (temporary_.empty()) return;
    const std::string open_file = fmt::format("/proc/self/fd/{}", fileno(file_));
    if (is_nameless_ &&
        linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
        fail();
    is_nameless_ = false;
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
    temporary_.clear();
}

void OutputFile::fail() const {
    throw InputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

void OutputFile::flush() {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) fail();
    buffer_.clear();
}

void OutputFile::end_with(std::string_view footer) {
    flush();
    if (std::fwrite(footer.data(), 1, footer.size(), file_) != footer.size() ||
        std::fflush(file_) != 0 ||
        std::fseek(file_, -static_cast<long>(footer.size()), SEEK_CUR) != 0)
        fail();
    take_name();
}

}  // namespace lockstep::trace
