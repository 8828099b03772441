// SPDX-License-Identifier: Apache-2.0
// The relocation sections (REL and RELA) of a cubin.
#pragma once

#include <vector>

#include "isa/cubin/cubin.h"
#include "isa/cubin/elf.h"

namespace lockstep::cubin {

/// All relocations of sections that are loaded (not those of debug sections), by section and
/// offset. `cubin` has its sections, symbols and functions already. Throws InputError.
std::vector<Relocation> read_relocations(const elf::File& file, const Cubin& cubin);

}  // namespace lockstep::cubin
