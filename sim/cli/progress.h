// SPDX-License-Identifier: Apache-2.0
// What a long run of a network is doing, as a line on standard error where that is a terminal.
// (Launches on a GPU have a line of their own: models/gpu/emulator/progress.h.)
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::cli {

class Progress {
  public:
    /// `is_wanted`: false shows nothing.
    Progress(std::string what, bool is_wanted);
    ~Progress() { wipe(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void say(std::string_view doing);
    /// `done` of `total`; shown a few times a second.
    void count(std::string_view unit, std::uint64_t done, std::uint64_t total);
    /// Before something else is printed.
    void wipe();

  private:
    const std::string what_;
    const bool is_shown_;
    bool has_written_ = false;
    std::chrono::steady_clock::time_point next_{};
};

}  // namespace lockstep::cli
