// SPDX-License-Identifier: Apache-2.0
// What a run shows, on standard output or in a file; what it is doing, as a line on standard error
// where that is a terminal. (Launches on a GPU have a line of their own:
// models/gpu/emulator/progress.h.)
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "workloads/run/job.h"

namespace lockstep::cli {

class TerminalScreen final : public run::Screen {
  public:
    /// `what` stands before what it is doing. `file`: where all is written that would be printed;
    /// empty: nowhere.
    TerminalScreen(std::string what, bool is_quiet, std::string file = "");
    ~TerminalScreen() override { wipe(); }
    TerminalScreen(const TerminalScreen&) = delete;
    TerminalScreen& operator=(const TerminalScreen&) = delete;

    void print(std::string_view text) override;
    void print_always(std::string_view text) override;
    void progress(std::string_view doing) override;
    /// Shown a few times a second.
    void progress(std::string_view unit, std::uint64_t done, std::uint64_t total) override;

    /// At the run's end. Throws InputError where the file cannot be written.
    void write_file() const;

  private:
    void wipe();

    const std::string what_, file_;
    const bool is_quiet_, has_progress_;
    std::string text_;  ///< for the file
    bool is_progress_shown_ = false;
    std::chrono::steady_clock::time_point next_{};
};

}  // namespace lockstep::cli
