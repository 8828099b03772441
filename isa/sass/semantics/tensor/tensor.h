// SPDX-License-Identifier: Apache-2.0
// The Tensor Core instructions, one bind function each; tensor.cpp lists them.
#pragma once

#include "isa/sass/binder.h"

namespace lockstep::sass {

bool bind_hmma884(Binder& binder);  ///< HMMA.884, a quarter or half of mma.m8n8k4
bool bind_hmma(Binder& binder);     ///< HMMA.1684, .1688, .16816 and .SP
bool bind_qmma(Binder& binder);     ///< QMMA.16832, .16816 (fp8)
bool bind_imma(Binder& binder);     ///< IMMA, 8-bit and 4-bit integers
bool bind_bmma(Binder& binder);     ///< BMMA, single bits
bool bind_dmma(Binder& binder);     ///< DMMA, fp64
bool bind_movm(Binder& binder);     ///< MOVM, transposition of an 8x8 matrix

/// The uniform predicate at bits 87-90 that can switch C off; compilers leave it UPT (zero bits),
/// and nothing else is executed.
inline bool accumulates_always(const Word& word) {
    return word.bits(87, 4) == 0;
}

}  // namespace lockstep::sass
