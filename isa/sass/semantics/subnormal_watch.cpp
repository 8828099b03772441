// SPDX-License-Identifier: Apache-2.0
// x86 notes in MXCSR, until it is cleared, that an operand was subnormal (DE) or that a result was
// and inexact (UE), whatever the width that the operation was computed in.
#include "isa/sass/semantics/subnormal_watch.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace lockstep::sass {

constinit thread_local SubnormalWatch subnormal_watch;

namespace {

/// Whether the host has met subnormal numbers since this was asked last.
bool has_met_subnormals() {
#if defined(__SSE2__)
    constexpr unsigned kDenormal = 1u << 1, kUnderflow = 1u << 4;
    const unsigned flags = _mm_getcsr();
    if ((flags & (kDenormal | kUnderflow)) == 0) return false;
    _mm_setcsr(flags & ~(kDenormal | kUnderflow));
    return true;
#else
    return false;
#endif
}

}  // namespace

bool SubnormalWatch::look() {
    if (left_ < 0 && left_ >= -kWideRows) return true;
    start(has_met_subnormals());
    return left_ < 0;
}

void SubnormalWatch::start(bool on) {
    left_ = on ? -1 : kPlainRows;
}

}  // namespace lockstep::sass
