// SPDX-License-Identifier: Apache-2.0
// A file that is written through a buffer, and whose end can be put on and taken off again. It has
// its name from the first end on: what a run that is killed leaves is no trace.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "sim/file/new_file.h"

namespace lockstep::trace {

class OutputFile {
  public:
    /// Throws InputError where the file cannot be made; the other functions where it cannot be
    /// written.
    explicit OutputFile(const std::string& path) : file_(path) {}
    /// Writes what is left; errors are lost, as in any destructor.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    template <typename... Arguments>
    void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(buffer_), format, std::forward<Arguments>(arguments)...);
        if (buffer_.size() >= kBufferBytes) flush();
    }
    /// Puts a last part on that the next print() overwrites.
    void end_with(std::string_view footer);

  private:
    static constexpr std::size_t kBufferBytes = 1 << 16;
    void flush();

    file::NewFile file_;
    std::string buffer_;
};

}  // namespace lockstep::trace
