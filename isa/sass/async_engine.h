// SPDX-License-Identifier: Apache-2.0
// Who performs the asynchronous copies of CTAs, and when: a machine's choice. Semantics start
// copies, close bulk groups and wait for them; mbarriers are settled when threads ask for them.
#pragma once

#include <cstdint>

namespace lockstep::sass {

struct AsyncCopy;
struct Cta;
struct Warp;

class AsyncEngine {
  public:
    virtual ~AsyncEngine() = default;

    /// A copy that has been checked begins, on behalf of copy.source.
    virtual void start(const AsyncCopy& copy) = 0;
    /// UTMACMDFLUSH: what the warp has started since its last one and writes global memory is a
    /// group, counted in a dependence counter until it is done.
    virtual void commit(Warp& warp, unsigned counter) = 0;
    /// DEPBAR.LE: the warp goes on when at most `limit` groups of the counter are left.
    virtual void wait(Warp& warp, unsigned counter, unsigned limit) = 0;
    /// A thread asks in vain for the phase of an mbarrier of the CTA: performs the next of the
    /// copies that report to it, where the engine does so on demand. False: there was none.
    virtual bool settle(Cta& cta, std::uint32_t mbarrier) = 0;
    /// All threads of an emulated CTA have ended.
    virtual void end_cta() = 0;
};

}  // namespace lockstep::sass
