// SPDX-License-Identifier: Apache-2.0
// Whether a kernel's results may depend on the order in which its CTAs run.
#pragma once

#include <span>

#include "isa/sass/word.h"

namespace lockstep::gpu {

/// True unless the code only loads and stores weakly and reduces integers commutatively in global
/// memory, so that every order of CTAs (of a program without data races) gives the same bits.
bool order_matters(std::span<const sass::Word> code, sass::Arch arch);

/// Whether a load or store of global or generic memory (LD, LDG, ST, STG) is volatile, relaxed or
/// stronger. Fields as nvdisasm reads them.
bool is_strong_access(const sass::Word& word, sass::Arch arch);

}  // namespace lockstep::gpu
