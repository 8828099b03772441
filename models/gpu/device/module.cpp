// SPDX-License-Identifier: Apache-2.0
// What the driver does when it loads a module: variables get addresses in device memory (constant
// banks too, so that copies to __constant__ symbols are plain copies), code gets addresses in the
// code space, undefined functions become system calls, and relocations are applied.
#include "models/gpu/device/module.h"

#include <algorithm>
#include <cstring>

#include "models/gpu/execution/system_calls.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

using cubin::SectionKind;
using cubin::SymbolKind;

namespace {

/// Whether it is a function's; a .text without a name is nobody's.
bool is_code(const cubin::Section& section) {
    return section.kind == SectionKind::kText && section.function != cubin::kNone;
}

void release(memory::DeviceMemory& memory, const std::vector<std::uint64_t>& addresses) {
    for (const std::uint64_t address : addresses)
        if (address != 0) memory.free(address);
}

/// Whether an instruction of the function, bound, computes the stack pointer from itself in a way
/// that counts; `counts` gets whether by another register.
template <typename Counts>
bool any_moves_stack(const sass::Program& program, const sass::Program::Function& function,
                     Counts counts) {
    constexpr unsigned kStackPointer = 1;
    for (std::uint32_t i = function.first; i < function.first + function.count; ++i) {
        bool writes = false, reads = false, by_register = false;
        for (const sass::RegisterUse& use : program.uses(i)) {
            if (use.file != sass::RegisterFile::kVector) continue;
            const bool is_pointer = use.number == kStackPointer && use.count == 1;
            writes |= is_pointer && use.is_write;
            reads |= is_pointer && !use.is_write;
            by_register |= !is_pointer && !use.is_write;
        }
        if (writes && reads && counts(by_register)) return true;
    }
    return false;
}

}  // namespace

Module::Module(const cubin::Cubin& cubin, memory::DeviceMemory& memory)
    : cubin_(cubin), memory_(memory), program_(cubin.arch) {
    if (cubin_.relocatable)
        throw InputError(
            fmt::format("{}: relocatable device code; link it with nvlink (or nvcc -dlink) first",
                        cubin_.file_name));
    std::uint32_t next = 0;
    std::vector<std::vector<std::uint8_t>> code;
    for (const cubin::Function& function : cubin_.functions) {
        first_.push_back(next);
        next += static_cast<std::uint32_t>(function.code.size() / sass::Word::kBytes);
        code.push_back(function.code);
    }
    try {
        place_sections();
        relocate(code);
    } catch (...) {
        release(memory_, address_);
        throw;
    }
    for (std::size_t i = 0; i < code.size(); ++i) {
        const cubin::Function& function = cubin_.functions[i];
        program_.add_function(function.name, function.is_kernel, std::as_bytes(std::span(code[i])));
    }
}

Module::~Module() {
    release(memory_, address_);
}

void Module::place_sections() {
    for (const cubin::Section& section : cubin_.sections) {
        const bool is_placed = section.kind == SectionKind::kGlobal ||
                               section.kind == SectionKind::kGlobalInit ||
                               (section.kind == SectionKind::kConstant && section.bank != 0);
        std::uint64_t address = 0;
        if (is_placed && section.size != 0) {
            const bool is_user_constant =
                section.kind == SectionKind::kConstant && section.bank == kUserConstantBank;
            address = is_user_constant ? memory_.allocate_above(section.size)
                                       : memory_.allocate(section.size);
            if (address == 0)
                throw InputError(fmt::format("{}: no device memory left for {} ({} bytes)",
                                             cubin_.file_name, section.name, section.size));
            if (!section.bytes.empty())
                std::memcpy(reinterpret_cast<void*>(address), section.bytes.data(),
                            section.bytes.size());
        }
        address_.push_back(address);
    }
}

std::uint64_t Module::symbol_value(const cubin::Symbol& symbol) const {
    switch (symbol.kind) {
        case SymbolKind::kUndefined:
            if (symbol.is_function) return system_call_address(symbol.name);
            return 0;  // weak markers of the driver, such as .nv.reservedSmem.offset0
        case SymbolKind::kShared:
        case SymbolKind::kOther:
            return symbol.offset;
        default:
            break;
    }
    if (symbol.section == cubin::kNone) return symbol.offset;
    const cubin::Section& section = cubin_.sections[symbol.section];
    if (is_code(section))
        return sass::Program::address_of(first_[section.function]) + symbol.offset;
    return address_[symbol.section] + symbol.offset;
}

void Module::relocate(std::vector<std::vector<std::uint8_t>>& code) {
    for (const cubin::Relocation& relocation : cubin_.relocations) {
        const cubin::Section& section = cubin_.sections[relocation.section];
        std::span<std::uint8_t> bytes;
        if (is_code(section))
            bytes = code[section.function];
        else if (address_[relocation.section] != 0)
            bytes = {reinterpret_cast<std::uint8_t*>(address_[relocation.section]), section.size};
        else
            continue;  // debug information and the like
        const cubin::Symbol& symbol = cubin_.symbols[relocation.symbol];
        std::uint32_t bank = 0;
        std::uint64_t value = symbol_value(symbol);
        if (symbol.section != cubin::kNone &&
            cubin_.sections[symbol.section].kind == SectionKind::kConstant) {
            bank = cubin_.sections[symbol.section].bank;
            // A constant operand names bank and offset, a pointer the address in memory.
            if (cubin::value_kind(relocation.kind) == cubin::RelocationValue::kConstantField)
                value = symbol.offset;
        }
        cubin::apply(relocation.kind, bytes, relocation.offset,
                     value + static_cast<std::uint64_t>(relocation.addend), bank);
    }
}

const cubin::Function* Module::find_kernel(std::string_view name) const {
    const cubin::Function* function = cubin_.find_function(name);
    return function != nullptr && function->is_kernel ? function : nullptr;
}

std::pair<std::uint64_t, std::uint64_t> Module::find_variable(std::string_view name) const {
    const cubin::Symbol* symbol = cubin_.find_symbol(name);
    if (symbol == nullptr ||
        (symbol->kind != SymbolKind::kGlobal && symbol->kind != SymbolKind::kConstant))
        return {0, 0};
    return {symbol_value(*symbol), symbol->size};
}

const sass::Program& Module::bind(const cubin::Function& kernel, std::uint32_t& first) {
    first = first_[static_cast<std::size_t>(&kernel - cubin_.functions.data())];
    program_.bind(first);
    return program_;
}

bool Module::has_unknown_stack(const cubin::Function& kernel) {
    const std::uint32_t first = first_[static_cast<std::size_t>(&kernel - cubin_.functions.data())];
    const auto [known, is_new] = has_unknown_stack_.try_emplace(first);
    if (is_new) known->second = takes_unknown_stack(kernel, first);
    return known->second;
}

bool Module::takes_unknown_stack(const cubin::Function& kernel, std::uint32_t first) const {
    if (kernel.unbounded_stack)
        return std::any_of(program_.functions().begin(), program_.functions().end(),
                           [&](const sass::Program::Function& function) {
                               return (!function.is_kernel || function.first == first) &&
                                      any_moves_stack(program_, function,
                                                      [](bool) { return true; });
                           });
    return any_moves_stack(program_, *program_.function_at(first), [&](bool by_register) {
        return by_register || kernel.local_bytes == 0;
    });
}

std::span<const std::byte> Module::constant_bank(const cubin::Function& kernel,
                                                 unsigned bank) const {
    for (const cubin::ConstantBank& seen : kernel.constant_banks)
        if (seen.bank == bank && address_[seen.section] != 0)
            return {reinterpret_cast<const std::byte*>(address_[seen.section]),
                    cubin_.sections[seen.section].size};
    return {};
}

std::string Module::source_line(std::uint32_t index) {
    if (!lines_) lines_.emplace(cubin_);
    const auto after = std::upper_bound(first_.begin(), first_.end(), index);
    if (after == first_.begin()) return "";
    const auto function = static_cast<std::size_t>(after - first_.begin()) - 1;
    return lines_->find(cubin_.functions[function].section,
                        (index - first_[function]) * std::uint64_t{sass::Word::kBytes});
}

bool Module::makes_system_calls(const cubin::Function& kernel) const {
    return std::any_of(cubin_.functions.begin(), cubin_.functions.end(),
                       [&](const cubin::Function& function) {
                           return (&function == &kernel || !function.is_kernel) &&
                                  !function.syscall_offsets.empty();
                       });
}

}  // namespace lockstep::gpu
