// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/emulator/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "sim/stats/live_cycles.h"

namespace lockstep::gpu {

namespace {

using Seconds = std::chrono::duration<double>;
constexpr std::chrono::milliseconds kFirst{1000};
constexpr std::chrono::milliseconds kInterval{250};
constexpr std::size_t kNameWidth = 40;

}  // namespace

Progress::Progress(std::string kernel, std::uint64_t total_ctas, bool is_wanted)
    : kernel_(std::move(kernel)),
      total_(total_ctas),
      is_shown_(is_wanted && isatty(STDERR_FILENO) != 0),
      is_published_(stats::publishes_cycles()),
      start_(std::chrono::steady_clock::now()),
      next_(start_ + kFirst) {}

Progress::~Progress() {
    if (has_written_) fmt::print(stderr, "\r\033[K");
}

void Progress::update(std::uint64_t ctas, std::uint64_t warp_instructions, std::uint64_t cycles) {
    stats::publish_under_way(cycles);
    const auto now = std::chrono::steady_clock::now();
    if (!is_shown_ || now < next_) return;
    next_ = now + kInterval;
    has_written_ = true;
    const double elapsed = Seconds(now - start_).count();
    const double left =
        ctas == 0 ? 0.0 : elapsed * static_cast<double>(total_ - ctas) / static_cast<double>(ctas);
    fmt::print(stderr, "\r\033[K{}: {} of {} CTAs, {}{:.2f} M warp-instructions/s{}",
               kernel_.substr(0, kNameWidth), ctas, total_,
               cycles == 0 ? "" : fmt::format("{} cycles, ", cycles),
               static_cast<double>(warp_instructions) / elapsed / 1e6,
               ctas == 0 ? "" : fmt::format(", {:.0f} s left", left));
    std::fflush(stderr);
}

}  // namespace lockstep::gpu
