// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/screen.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "sim/terminal/colour.h"

namespace lockstep::cli {

namespace {

constexpr std::chrono::milliseconds kInterval{250};

}  // namespace

TerminalScreen::TerminalScreen(std::string what, bool is_quiet, std::string file)
    : what_(std::move(what)),
      file_(std::move(file)),
      is_quiet_(is_quiet),
      has_progress_(!is_quiet && isatty(STDERR_FILENO) != 0) {}

void TerminalScreen::print(std::string_view text) {
    if (!is_quiet_) print_always(text);
}

void TerminalScreen::print_always(std::string_view text) {
    wipe();
    if (file_.empty())
        fmt::print("{}", terminal::report_for(STDOUT_FILENO, text));
    else
        text_ += text;
}

void TerminalScreen::write_file() const {
    if (!file_.empty()) stats::write_whole(file_, text_);
}

void TerminalScreen::progress(std::string_view doing) {
    if (!has_progress_) return;
    is_progress_shown_ = true;
    fmt::print(stderr, "\r\033[K{}: {}", what_, doing);
    std::fflush(stderr);
}

void TerminalScreen::progress(std::string_view unit, std::uint64_t done, std::uint64_t total) {
    if (!has_progress_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kInterval;
    progress(fmt::format("{} of {} {}", done, total, unit));
}

void TerminalScreen::wipe() {
    if (is_progress_shown_) fmt::print(stderr, "\r\033[K");
    is_progress_shown_ = false;
}

}  // namespace lockstep::cli
