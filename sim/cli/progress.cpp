// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace lockstep::cli {

namespace {

constexpr std::chrono::milliseconds kInterval{250};

}  // namespace

Progress::Progress(std::string what, bool is_wanted)
    : what_(std::move(what)), is_shown_(is_wanted && isatty(STDERR_FILENO) != 0) {}

void Progress::say(std::string_view doing) {
    if (!is_shown_) return;
    has_written_ = true;
    fmt::print(stderr, "\r\033[K{}: {}", what_, doing);
    std::fflush(stderr);
}

void Progress::count(std::string_view unit, std::uint64_t done, std::uint64_t total) {
    if (!is_shown_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kInterval;
    say(fmt::format("{} of {} {}", done, total, unit));
}

void Progress::wipe() {
    if (has_written_) fmt::print(stderr, "\r\033[K");
    has_written_ = false;
}

}  // namespace lockstep::cli
