// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "sim/error/error.h"

namespace lockstep::docs {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
    throw InputError(fmt::format("{}: cannot be written: {}", path.string(), why));
}

/// A folder that goes with its owner.
class Scratch {
  public:
    explicit Scratch(fs::path path) : path_(std::move(path)) {
        std::error_code error;
        fs::create_directory(path_, error);
        if (error) fail(path_, error.message());
    }
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

void write(const fs::path& path, const std::string& content) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) fail(path, error.message());
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file) fail(path, std::strerror(errno));
}

void check_replaceable(const fs::path& folder, const std::string& marker) {
    if (!fs::exists(folder)) return;
    if (!fs::is_directory(folder)) fail(folder, "it is a file");
    if (!fs::is_empty(folder) && !fs::exists(folder / marker))
        fail(folder, "it holds other files; name a folder that is new or empty");
}

}  // namespace

void write_folder(const std::string& folder, const std::map<std::string, std::string>& files,
                  const std::string& marker) {
    fs::path target = fs::absolute(folder).lexically_normal();
    if (!target.has_filename()) target = target.parent_path();
    check_replaceable(target, marker);
    const Scratch scratch(fmt::format("{}.{}.part", target.string(), getpid()));
    for (const auto& [path, content] : files) write(scratch.path() / path, content);
    // Where there is a folder the two change places: no moment without one. A plain rename takes
    // the name of an empty folder at most.
    const bool exists = fs::exists(target) && !fs::is_empty(target);
    if (renameat2(AT_FDCWD, scratch.path().c_str(), AT_FDCWD, target.c_str(),
                  exists ? RENAME_EXCHANGE : 0) != 0)
        fail(target, std::strerror(errno));
}

}  // namespace lockstep::docs
