// SPDX-License-Identifier: Apache-2.0
// Conversions between number formats: the table of the family. F2F, F2I, I2F and FRND have one
// opcode for sides of at most 32 bits and one for a 64-bit side; types are fields of the word.
#include "isa/sass/semantics/conversion.h"

namespace lockstep::sass {

namespace {

constexpr BindEntry kEntries[] = {
    {0x03e, bind_f2fp}, {0x043, bind_f2ip}, {0x045, bind_i2fp}, {0x104, bind_f2f},
    {0x105, bind_f2i},  {0x106, bind_i2f},  {0x107, bind_frnd}, {0x110, bind_f2f},
    {0x111, bind_f2i},  {0x112, bind_i2f},  {0x113, bind_frnd},
};

}  // namespace

std::span<const BindEntry> conversion_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
