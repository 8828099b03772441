// SPDX-License-Identifier: Apache-2.0
// How an executable or a shared library comes by the CUDA runtime: nvcc links it statically unless
// told otherwise. Then the symbol table says where its functions lie and which version it is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep::cuda {

enum class Linkage {
    kNone,      ///< no CUDA runtime
    kShared,    ///< it asks for a libcudart.so or for functions of one
    kStatic,    ///< its own copy, whose functions have symbols
    kStripped,  ///< kernels, but neither a runtime library nor symbols
};

/// A function of the CUDA runtime inside of a file.
struct EntryPoint {
    std::string_view name;
    std::uint64_t address = 0;  ///< in the file's own address space
    std::uint64_t room = 0;     ///< bytes up to the next symbol
};

struct RuntimeLinkage {
    Linkage linkage = Linkage::kNone;
    int version = 0;  ///< of CUDA, 11 to 13, where the copy is static
    std::vector<EntryPoint> entries;
};

/// Reads the section and symbol tables of a 64-bit x86 ELF file. Names point into `bytes`. Throws
/// InputError where the file is malformed.
RuntimeLinkage examine(std::span<const std::uint8_t> bytes, std::string_view file_name);

/// The version of CUDA (11, 12 or 13) whose runtime has most nearly these functions, by
/// functions.txt. 0: none of them is one of its functions.
int version_of(std::span<const EntryPoint> entries);

/// The symbols that a shared library exports: address 0 of the file is where it is loaded.
std::vector<EntryPoint> exported_functions(std::span<const std::uint8_t> bytes,
                                           std::string_view file_name);

/// Throws InputError where an executable's CUDA runtime cannot be replaced: it is static and has no
/// symbols. The message says the two ways out.
void check_replaceable(std::span<const std::uint8_t> bytes, std::string_view file_name);

}  // namespace lockstep::cuda
