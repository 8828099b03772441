// SPDX-License-Identifier: Apache-2.0
// Hosts multiply and add subnormal numbers by microcode, a hundred times slower than others (Intel
// 64 Optimization Reference Manual, "floating-point assists"). A wider type holds the same numbers
// as normal ones, at a fifth of the plain rate at worst. Which way a row is computed changes no
// result, so that it may depend on what the host has met lately.
#pragma once

#include <cstdint>

namespace lockstep::sass {

class SubnormalWatch {
  public:
    /// To be asked once a row. True: compute it in a wider type.
    bool is_on() { return is_due() && look(); }
    /// The same in two steps: only where it is due, look() tells.
    bool is_due() { return --left_ <= 0; }
    bool look();
    /// What is_on() answers for the next kPlainRows rows, or until none was subnormal for
    /// kWideRows. For tests.
    void start(bool on);

    static constexpr std::int32_t kPlainRows = 128;
    static constexpr std::int32_t kWideRows = 64;

  private:
    std::int32_t left_ = kPlainRows;  ///< rows until the host is asked; not positive: it is on
};

/// Of this host thread, as the host's floating-point flags are.
#if defined(__GNUC__)
__attribute__((tls_model("initial-exec")))
#endif
extern constinit thread_local SubnormalWatch subnormal_watch;

}  // namespace lockstep::sass
