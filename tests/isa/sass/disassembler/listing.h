// SPDX-License-Identifier: Apache-2.0
// A listing of nvdisasm as test data: one instruction a line,
//   arch, bits 127-64, bits 63-0, address (all but the arch in hexadecimal), text
// compressed with xz. Source: nvdisasm 11.8 -raw -ndf -b SM<arch> over the .text sections of
// kernels that nvcc 13.0 and ptxas 11.8 compiled (kernels.xz) and over random words (random.xz).
#pragma once

#include <string>
#include <vector>

#include "isa/sass/word.h"

namespace lockstep::sass {

struct Line {
    Arch arch = 0;
    Word word;
    std::uint64_t address = 0;
    std::string text;
};

std::vector<Line> read_listing(const std::string& name);

}  // namespace lockstep::sass
