// SPDX-License-Identifier: Apache-2.0
// libcudart_static.a is one object for the whole interface, so that a program linked with it has
// every function of its version: which names are there says which version it is. Sources: the
// symbol tables of libcudart_static 11.8 and 13.0; functions.txt.
#include "workloads/cuda_api/loader/static_runtime.h"

#include <algorithm>
#include <iterator>

#include "isa/cubin/elf.h"

namespace lockstep::cuda {
namespace {

using cubin::Reader;
namespace elf = cubin::elf;

/// A runtime function and a bit for each version of CUDA that has it: 1 for 11, 2 for 12, 4 for 13.
struct RuntimeFunction {
    std::string_view name;
    unsigned versions;
};
constexpr RuntimeFunction kFunctions[] = {
#include "workloads/cuda_api/runtime/runtime_functions.inc"
};
constexpr int kOldest = 11, kNewest = 13;

const RuntimeFunction* find_function(std::string_view name) {
    const auto* const row =
        std::lower_bound(std::begin(kFunctions), std::end(kFunctions), name,
                         [](const RuntimeFunction& f, std::string_view n) { return f.name < n; });
    return row != std::end(kFunctions) && row->name == name ? row : nullptr;
}

struct Symbol {
    std::string_view name;
    std::uint64_t address;
    bool is_function, is_defined;
};

std::vector<Symbol> symbols_of(const elf::File& file, const elf::SectionHeader& table) {
    constexpr std::uint64_t kEntry = 24;
    constexpr unsigned kFunction = 2, kReserved = 0xff00;
    const Reader entries = file.contents(table);
    const Reader names = file.linked(table, elf::kSectionStrings, "string table");
    std::vector<Symbol> symbols;
    for (std::uint64_t at = 0; at + kEntry <= entries.size(); at += kEntry) {
        const std::uint32_t name = entries.u32(at, "symbol");
        const unsigned section = entries.u16(at + 6, "symbol");
        symbols.push_back({name == 0 ? std::string_view() : names.string(name, "symbol name"),
                           entries.u64(at + 8, "symbol"),
                           (entries.u8(at + 4, "symbol") & 15u) == kFunction,
                           section != 0 && section < kReserved});
    }
    return symbols;
}

/// The runtime's functions among the symbols, with the room each has.
std::vector<EntryPoint> entries_of(const std::vector<Symbol>& symbols) {
    std::vector<std::uint64_t> addresses;
    for (const Symbol& symbol : symbols)
        if (symbol.is_defined) addresses.push_back(symbol.address);
    std::sort(addresses.begin(), addresses.end());
    std::vector<EntryPoint> entries;
    for (const Symbol& symbol : symbols) {
        if (!symbol.is_defined || !symbol.is_function || !find_function(symbol.name)) continue;
        const auto next = std::upper_bound(addresses.begin(), addresses.end(), symbol.address);
        constexpr std::uint64_t kAlignment = 16;  // of functions: what the last one has at least
        const std::uint64_t end = next == addresses.end() ? symbol.address + kAlignment : *next;
        entries.push_back({symbol.name, symbol.address, end - symbol.address});
    }
    return entries;
}

bool has_name(std::span<const EntryPoint> entries, std::string_view name) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const EntryPoint& entry) { return entry.name == name; });
}

constexpr std::string_view kRegister = "__cudaRegisterFatBinary";

}  // namespace

int version_of(std::span<const EntryPoint> entries) {
    int best = 0;
    std::size_t best_common = 0, best_all = 1;
    for (int version = kOldest; version <= kNewest; ++version) {
        const unsigned bit = 1u << (version - kOldest);
        std::size_t common = 0;
        for (const EntryPoint& entry : entries) {
            const RuntimeFunction* const function = find_function(entry.name);
            if (function && (function->versions & bit) != 0) ++common;
        }
        const auto in_version = static_cast<std::size_t>(
            std::count_if(std::begin(kFunctions), std::end(kFunctions),
                          [&](const RuntimeFunction& f) { return (f.versions & bit) != 0; }));
        const std::size_t all = entries.size() + in_version - common;
        if (common != 0 && common * best_all >= best_common * all) {
            best = version;
            best_common = common;
            best_all = all;
        }
    }
    return best;
}

RuntimeLinkage examine(std::span<const std::uint8_t> bytes, std::string_view file_name) {
    const elf::File file(bytes, file_name, "executable");
    RuntimeLinkage result;
    bool has_kernels = false, has_symbols = false, imports = false;
    for (const elf::SectionHeader& section : file.sections()) {
        if (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin" ||
            section.name == ".nvFatBinSegment")
            has_kernels = true;
        if (section.type == elf::kSectionDynamicSymbols)
            for (const Symbol& symbol : symbols_of(file, section))
                imports |= !symbol.is_defined && find_function(symbol.name) != nullptr;
        if (section.type == elf::kSectionSymbols && section.has_bytes) {
            has_symbols = true;
            result.entries = entries_of(symbols_of(file, section));
        }
    }
    if (has_name(result.entries, kRegister)) {
        result.linkage = Linkage::kStatic;
        result.version = version_of(result.entries);
        return result;
    }
    result.entries.clear();
    if (imports)
        result.linkage = Linkage::kShared;
    else if (has_kernels && !has_symbols)
        result.linkage = Linkage::kStripped;
    return result;
}

std::vector<EntryPoint> exported_functions(std::span<const std::uint8_t> bytes,
                                           std::string_view file_name) {
    const elf::File file(bytes, file_name, "library");
    std::vector<EntryPoint> exports;
    for (const elf::SectionHeader& section : file.sections()) {
        if (section.type != elf::kSectionDynamicSymbols) continue;
        for (const Symbol& symbol : symbols_of(file, section))
            if (symbol.is_defined && symbol.is_function)
                exports.push_back({symbol.name, symbol.address, 0});
    }
    std::sort(exports.begin(), exports.end(),
              [](const EntryPoint& a, const EntryPoint& b) { return a.name < b.name; });
    return exports;
}

void check_replaceable(std::span<const std::uint8_t> bytes, std::string_view file_name) {
    if (examine(bytes, file_name).linkage == Linkage::kStripped)
        throw InputError(fmt::format(
            "{}: it has its own copy of the CUDA runtime and no symbol table to find it by; link "
            "it with `nvcc -cudart shared`, or do not strip it",
            file_name));
}

}  // namespace lockstep::cuda
