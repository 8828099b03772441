// SPDX-License-Identifier: Apache-2.0
// The progress line of a long launch.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lockstep::gpu {

/// Shows how far a launch is, on stderr where that is a terminal, from the second second on.
class Progress {
  public:
    /// `is_wanted`: false shows nothing.
    Progress(std::string kernel, std::uint64_t total_ctas, bool is_wanted);
    /// Wipes the line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// `cycles`: simulated so far; 0 where there is no time.
    void finished(std::uint64_t ctas, std::uint64_t warp_instructions, std::uint64_t cycles = 0) {
        if (is_shown_ || is_published_) update(ctas, warp_instructions, cycles);
    }

  private:
    void update(std::uint64_t ctas, std::uint64_t warp_instructions, std::uint64_t cycles);

    std::string kernel_;
    std::uint64_t total_;
    bool is_shown_;
    const bool is_published_;  ///< to a process that watches this one
    bool has_written_ = false;
    std::chrono::steady_clock::time_point start_, next_;
};

}  // namespace lockstep::gpu
