// SPDX-License-Identifier: Apache-2.0
// A program as a child, with limits: what a page asks for runs apart from the server.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::lab {

struct ChildLimits {
    double seconds = 120;                                ///< of the wall clock
    std::uint64_t bytes = std::uint64_t{4} << 30;        ///< of resident memory
    std::size_t output = std::size_t{16} << 20;          ///< bytes printed
    std::uint64_t file_bytes = std::uint64_t{64} << 20;  ///< of any file written
};

struct ChildResult {
    int status = 0;              ///< 2 where it passed a limit or was stopped
    std::string output, errors;  ///< of standard output; of standard error, or what limit it passed
};

/// `words` behind the name of `program`; `input` is its standard input; it runs in `folder`. Ends
/// it where a limit is passed or `stop` is set. Any thread.
ChildResult run_child(const std::string& program, const std::vector<std::string>& words,
                      const std::string& input, const std::string& folder,
                      const ChildLimits& limits, const std::atomic<bool>& stop);

/// An empty folder, removed at the end.
class ScratchFolder {
  public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace lockstep::lab
