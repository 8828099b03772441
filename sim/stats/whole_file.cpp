// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>

#include "sim/file/new_file.h"
#include "sim/stats/statistics.h"

namespace lockstep::stats {

void write_whole(const std::string& path, std::string_view contents) {
    file::NewFile file(path);
    if (std::fwrite(contents.data(), 1, contents.size(), file.stream()) != contents.size())
        file.fail();
    file.publish();
}

void check_writable(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    // To open a pipe could wait for its reader.
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
        !std::filesystem::is_directory(status))
        return;
    file::NewFile file(path);
}

}  // namespace lockstep::stats
