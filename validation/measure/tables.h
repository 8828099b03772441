// SPDX-License-Identifier: Apache-2.0
// Tables of the transcendental unit: a function's results over consecutive bit patterns, as
// differences from the correctly rounded ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::validation {

struct TableRange {
    std::string function;  ///< of probes.cu
    std::uint32_t first_bits = 0;
    int count = 0;
};

/// Every function over one or two binades.
std::span<const TableRange> table_ranges();

/// The exact result rounded to nearest even, as far as the host's 64-bit significand decides it.
float rounded_result(const std::string& function, float x);

/// result - rounded result in units of the last place (of the bit patterns), zigzag LEB128, zstd.
std::string compress_table(const TableRange& range, std::span<const float> results);
/// The results again. Throws InputError where the bytes are not a table of this range.
std::vector<float> expand_table(const TableRange& range, std::string_view bytes,
                                const std::string& file_name);

}  // namespace lockstep::validation
