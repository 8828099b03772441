// SPDX-License-Identifier: Apache-2.0
// A cubin: the ELF file in which nvcc and ptxas deliver compiled GPU code (CUDA 11 to 13).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/cubin/relocation.h"

namespace lockstep::cubin {

/// Index of a section, symbol or function that is not there.
inline constexpr uint32_t kNone = 0xffffffff;

struct Parameter {
    uint32_t offset;  ///< from the parameter base, bytes
    uint32_t size;    ///< bytes
};

enum class SectionKind {
    kText,        ///< SASS; the bytes have moved into Function::code
    kConstant,    ///< .nv.constant<bank>[.<function>]
    kShared,      ///< .nv.shared.<function>: a size, no bytes
    kLocal,       ///< .nv.local.<function>: a size, no bytes
    kGlobal,      ///< .nv.global: zero-initialised variables, a size, no bytes
    kGlobalInit,  ///< .nv.global.init: initialised variables
    kInfo,        ///< .nv.info[.<function>]
    kDebug,       ///< debug_frame, line tables and the like
    kOther,
};

/// Cubin::sections has the file's own order: its index is the ELF section index.
struct Section {
    std::string name;
    SectionKind kind;
    uint32_t bank;       ///< of kConstant
    uint32_t function;   ///< index into Cubin::functions it belongs to, or kNone: the module
    uint64_t size;       ///< bytes in memory (bytes may be empty)
    uint64_t alignment;  ///< at least 1
    uint64_t file_offset;
    std::vector<uint8_t> bytes;  ///< contents; empty for kText, kShared, kLocal, kGlobal
};

enum class SymbolKind {
    kFunction,   ///< kernel or device function: section + offset is its first instruction
    kGlobal,     ///< __device__ variable
    kConstant,   ///< __constant__ variable (bank: that of its section)
    kShared,     ///< __shared__ variable: offset from the start of the CTA's shared memory
    kSection,    ///< stands for the start of its section
    kUndefined,  ///< resolved by the driver: vprintf, malloc, free, __assertfail, ...
    kOther,
};

/// Cubin::symbols has the file's own order: its index is the ELF symbol index.
struct Symbol {
    std::string name;
    SymbolKind kind;
    uint32_t section;          ///< or kNone (undefined, absolute, common)
    uint64_t offset;           ///< in the section
    uint64_t size;             ///< bytes
    bool is_global = false;    ///< bound globally or weakly: other modules and the host may name it
    bool is_function = false;  ///< also of kUndefined: something that is called
    bool is_entry = false;     ///< a kernel
    bool is_managed = false;   ///< a __managed__ variable
};

/// Patch `section` at `offset` by the value of `symbol` plus `addend`; see apply().
struct Relocation {
    uint32_t section;
    uint64_t offset;  ///< in the section (in Function::code where the section is a kText)
    RelocationKind kind;
    uint32_t symbol;  ///< index into Cubin::symbols
    int64_t addend;
};

/// One record of .nv.info. Integers in payload are little-endian.
struct Attribute {
    uint8_t code;                  ///< AttributeCode of isa/cubin/attributes.h
    std::vector<uint8_t> payload;  ///< BVAL: 1 byte, HVAL: 2, SVAL: its own length
};

/// Constant bank `bank` of a function: contents are Cubin::sections[section].bytes.
struct ConstantBank {
    uint32_t bank;
    uint32_t section;
};

/// One .text section: a kernel with what was cloned into it, or a device function of its own.
struct Function {
    std::string name;  ///< mangled
    bool is_kernel = false;
    uint32_t section = kNone;
    uint32_t symbol = kNone;
    std::vector<uint8_t> code;           ///< 16 bytes an instruction, before relocation
    uint64_t code_file_offset = 0;       ///< of code, for messages
    uint32_t registers = 0;              ///< per thread
    uint32_t shared_bytes = 0;           ///< static shared memory, from its address 0 on
    uint32_t reserved_shared_bytes = 0;  ///< of these, what the system has (sm_90 on: 1,024)
    uint32_t shared_section = kNone;
    uint32_t local_bytes = 0;      ///< local memory a thread needs, as the driver sizes it: the
                                   ///< larger of frame and min stack size (no recursion)
    uint32_t frame_bytes = 0;      ///< FRAME_SIZE
    uint32_t min_stack_bytes = 0;  ///< MIN_STACK_SIZE
    uint32_t max_stack_bytes = 0;  ///< MAX_STACK_SIZE
    /// It calls functions and what they need of stack is not known: recursion, function pointers.
    /// The driver then gives cudaLimitStackSize, or local_bytes where that is more.
    bool unbounded_stack = false;
    uint32_t barriers = 0;        ///< named CTA barriers used
    uint32_t parameter_base = 0;  ///< offset of the parameters in constant bank 0
    uint32_t parameter_bytes = 0;
    std::vector<Parameter> parameters;
    std::array<uint32_t, 3> max_threads{};       ///< __launch_bounds__ / .maxntid, 0 = none
    std::array<uint32_t, 3> required_threads{};  ///< __block_size__ / .reqntid, 0 = none
    std::array<uint32_t, 3> cluster{};         ///< __cluster_dims__ / .reqnctapercluster, 0 = none
    uint32_t max_cluster_rank = 0;             ///< .maxclusterrank, 0 = none
    bool explicit_cluster = false;             ///< must be launched as a cluster
    bool blocks_are_clusters = false;          ///< the grid is given in clusters
    std::vector<uint8_t> constant0;            ///< bank 0 image, parameter area included
    std::vector<ConstantBank> constant_banks;  ///< all other banks it sees, by bank
    std::vector<uint32_t> exit_offsets;        ///< of every EXIT, bytes into code
    std::vector<uint32_t> syscall_offsets;     ///< of calls of kUndefined functions
    std::vector<uint32_t> coop_group_offsets;
    std::vector<uint32_t> indirect_branches;  ///< offsets of BRX/JMX with known targets
    std::vector<std::vector<uint32_t>> indirect_branch_targets;  ///< of each of them
    std::vector<Attribute> attributes;                           ///< of .nv.info.<name>, unparsed
};

struct Cubin {
    std::string file_name;
    int arch = 0;              ///< 70 .. 121
    bool accelerated = false;  ///< sm_90a and the like: runs on exactly this machine
    bool relocatable = false;  ///< made by -rdc=true and not yet linked
    int elf_abi = 0;           ///< EI_ABIVERSION: 7 (up to CUDA 12) or 8 (CUDA 13)
    int address_bits = 64;
    std::vector<Section> sections;
    std::vector<Function> functions;
    std::vector<Symbol> symbols;
    std::vector<Relocation> relocations;  ///< by section, then offset
    std::vector<Attribute> attributes;    ///< of the module's .nv.info, unparsed

    const Function* find_function(std::string_view name) const;
    const Symbol* find_symbol(std::string_view name) const;  ///< global before local
};

/// Reads a cubin. Throws InputError with file, offset and reason on anything malformed.
/// `file_name` is only used in messages.
Cubin parse(std::span<const uint8_t> bytes, std::string_view file_name);

}  // namespace lockstep::cubin
