// SPDX-License-Identifier: Apache-2.0
// A cubin is an ELF file with one .text section a function and, beside it, sections whose names end
// in the function's name: .nv.info (attributes), .nv.constant<bank>, .nv.shared, .nv.local. CUDA 11
// and 12 write ABI version 7 (registers and barriers in the .text header's fields, SM in the low
// byte of e_flags), CUDA 13 version 8 (attributes only, SM in the second byte).
// Source: cubins of ptxas 11.8 and 13.0; the e_flags bits also stand in LLVM's ELF.h.
#include "isa/cubin/cubin.h"

#include <algorithm>
#include <unordered_map>

#include "isa/cubin/attributes.h"
#include "isa/cubin/elf.h"
#include "isa/cubin/relocation_table.h"
#include "isa/cubin/section_kind.h"

namespace lockstep::cubin {

namespace {

constexpr int kOldestArch = 70, kNewestArch = 121;
// The system's part of a CTA's shared memory, laid out before the program's own.
constexpr int kFirstReservedShared = 90;
constexpr uint32_t kReservedShared = 1024;
constexpr uint8_t kAbi7 = 7, kAbi8 = 8;
constexpr uint64_t kSymbolSize = 24;
constexpr uint64_t kLargestNoBits = uint64_t{1} << 40;
constexpr uint8_t kTypeObject = 1, kTypeFunction = 2, kTypeSection = 3;
constexpr uint8_t kOtherEntry = 0x10, kOtherManaged = 0x04;
constexpr uint16_t kIndexReserved = 0xff00, kIndexExtended = 0xffff;

class Parser {
  public:
    Parser(std::span<const uint8_t> bytes, std::string_view file_name)
        : elf_(bytes, file_name, "cubin"), file_(elf_.reader()) {
        cubin_.file_name = file_name;
    }

    Cubin parse() {
        read_header();
        read_sections();
        read_symbols();
        make_functions();
        give_sections_to_functions();
        read_all_attributes();
        cubin_.relocations = read_relocations(elf_, cubin_);
        for (Function& function : cubin_.functions) finish(function);
        return std::move(cubin_);
    }

  private:
    void read_header();
    void read_sections();
    void read_symbols();
    Symbol read_symbol(const Reader& table, const Reader& names, const Reader& indices, uint64_t i);
    void make_functions();
    uint32_t owner_of(std::string_view name, uint32_t info) const;
    void give_sections_to_functions();
    void read_all_attributes();
    void read_module_attributes(uint32_t section);
    void finish(Function& function);

    /// Copies a name; the sum of all is bounded, as names may share bytes of their table.
    std::string copy(std::string_view name, uint64_t at) {
        name_bytes_ += name.size();
        if (name_bytes_ > 16 * file_.size() + 65536)
            file_.fail(at, "the names together are much larger than the file");
        return std::string(name);
    }
    /// Contents of a section once its bytes have been checked.
    Reader contents(uint32_t section) const { return elf_.contents(elf_.sections()[section]); }

    elf::File elf_;
    const Reader& file_;
    Cubin cubin_;
    uint64_t name_bytes_ = 0;
    uint32_t symbol_table_ = kNone;
    std::unordered_map<std::string_view, uint32_t> function_by_name_;
};

void Parser::read_header() {
    const elf::Header& header = elf_.header();
    if (header.machine != elf::kMachineCuda)
        file_.fail(18, fmt::format("not a cubin: ELF machine {} is not that of CUDA ({})",
                                   header.machine, elf::kMachineCuda));
    cubin_.elf_abi = header.abi_version;
    if (header.abi_version == kAbi8) {
        cubin_.arch = header.flags >> 8 & 0xff;
        cubin_.accelerated = header.flags & 0x8;
    } else if (header.abi_version == kAbi7) {
        cubin_.arch = header.flags & 0xff;
        cubin_.accelerated = header.flags & 0x800;
        if ((header.flags & 0x400) == 0)
            file_.fail(48, "a cubin with 32-bit addresses; compile with -m64");
    } else {
        file_.fail(8, fmt::format("cubin ABI version {} is not supported (only {} and {})",
                                  header.abi_version, kAbi7, kAbi8));
    }
    if (cubin_.arch < kOldestArch || cubin_.arch > kNewestArch)
        file_.fail(48,
                   fmt::format("code for sm_{} is not supported; compile with -arch=sm_{} or newer",
                               cubin_.arch, kOldestArch));
    cubin_.relocatable = header.type == 1;
}

void Parser::read_sections() {
    uint64_t total = 0;
    for (const elf::SectionHeader& header : elf_.sections()) {
        const SectionName named = classify(header.name);
        if (header.size > kLargestNoBits)
            file_.fail(header.header_offset,
                       fmt::format("section {} has {} bytes", header.name, header.size));
        // sm_100 and later: a second copy in another encoding, whose sections share bytes.
        const bool has_bytes = header.has_bytes && !header.name.starts_with(".nv.merc.");
        if (has_bytes) total += header.size;
        if (total > file_.size())
            file_.fail(header.header_offset,
                       fmt::format("section {} overlaps others", header.name));
        const uint64_t alignment = std::max<uint64_t>(header.alignment, 1);
        if ((alignment & (alignment - 1)) != 0 || alignment > 1u << 20)
            file_.fail(header.header_offset,
                       fmt::format("section {} has alignment {}", header.name, alignment));
        Section section{copy(header.name, header.header_offset),
                        named.kind,
                        named.bank,
                        kNone,
                        header.size,
                        alignment,
                        header.offset,
                        {}};
        const Reader reader = elf_.contents(header);
        if (has_bytes) {
            const auto bytes = reader.bytes(0, reader.size(), "section");
            section.bytes.assign(bytes.begin(), bytes.end());
        }
        if (header.type == elf::kSectionSymbols) {
            if (symbol_table_ != kNone) file_.fail(header.header_offset, "a second symbol table");
            symbol_table_ = static_cast<uint32_t>(cubin_.sections.size());
        }
        cubin_.sections.push_back(std::move(section));
    }
}

Symbol Parser::read_symbol(const Reader& table, const Reader& names, const Reader& indices,
                           uint64_t i) {
    const uint64_t at = i * kSymbolSize;
    const uint32_t name = table.u32(at, "symbol");
    const uint8_t info = table.u8(at + 4, "symbol"), other = table.u8(at + 5, "symbol");
    const uint16_t index = table.u16(at + 6, "symbol");
    const uint8_t type = info & 0xf;
    Symbol symbol{copy(names.string(name, "symbol name"), table.base() + at), SymbolKind::kOther,
                  kNone, table.u64(at + 8, "symbol"), table.u64(at + 16, "symbol")};
    symbol.is_global = info >> 4 != 0;
    symbol.is_function = type == kTypeFunction;
    symbol.is_entry = symbol.is_function && (other & kOtherEntry) != 0;
    symbol.is_managed = type == kTypeObject && (other & kOtherManaged) != 0;
    if (index == 0) {
        if (!symbol.name.empty()) symbol.kind = SymbolKind::kUndefined;
        return symbol;
    }
    if (index == kIndexExtended)
        symbol.section = indices.u32(i * 4, "extended section index");
    else if (index >= kIndexReserved)
        return symbol;
    else
        symbol.section = index;
    if (symbol.section >= cubin_.sections.size())
        table.fail(at, fmt::format("symbol {} names section {} of {}", symbol.name, symbol.section,
                                   cubin_.sections.size()));
    const Section& section = cubin_.sections[symbol.section];
    // Shared memory is laid out by the linker, what is reserved of it by the driver: in an object
    // these sections have no size yet. Those for debuggers may stay empty.
    const bool reserved =
        section.name.starts_with(".nv.shared.reserved") || section.kind == SectionKind::kDebug;
    const bool laid_out = !reserved && (!cubin_.relocatable || !section.bytes.empty());
    if (laid_out && (symbol.offset > section.size || symbol.size > section.size - symbol.offset))
        table.fail(at, fmt::format("symbol {} ({} bytes at {:#x}) lies outside of section {}",
                                   symbol.name, symbol.size, symbol.offset, section.name));
    if (type == kTypeSection)
        symbol.kind = SymbolKind::kSection;
    else if (section.kind == SectionKind::kText)
        symbol.kind = symbol.is_function ? SymbolKind::kFunction : SymbolKind::kOther;
    else if (section.kind == SectionKind::kConstant)
        symbol.kind = SymbolKind::kConstant;
    else if (section.kind == SectionKind::kShared)
        symbol.kind = SymbolKind::kShared;
    else if (section.kind == SectionKind::kGlobal || section.kind == SectionKind::kGlobalInit)
        symbol.kind = SymbolKind::kGlobal;
    return symbol;
}

void Parser::read_symbols() {
    if (symbol_table_ == kNone) file_.fail(0, "no symbol table");
    const elf::SectionHeader& header = elf_.sections()[symbol_table_];
    const Reader table = elf_.contents(header);
    const Reader names = elf_.linked(header, elf::kSectionStrings, "string table");
    Reader indices({}, file_.file_name());
    for (const elf::SectionHeader& other : elf_.sections())
        if (other.type == elf::kSectionSymbolIndices) indices = elf_.contents(other);
    if (table.size() % kSymbolSize != 0)
        table.fail(0, fmt::format("the symbol table's {} bytes are no multiple of {}", table.size(),
                                  kSymbolSize));
    for (uint64_t i = 0; i < table.size() / kSymbolSize; ++i)
        cubin_.symbols.push_back(read_symbol(table, names, indices, i));
}

void Parser::make_functions() {
    for (uint32_t i = 0; i < cubin_.sections.size(); ++i) {
        Section& section = cubin_.sections[i];
        const elf::SectionHeader& header = elf_.sections()[i];
        const std::string_view name = classify(header.name).function;
        if (section.kind != SectionKind::kText || name.empty()) continue;
        if (section.bytes.size() % 16 != 0 || section.bytes.size() != section.size)
            file_.fail(header.header_offset,
                       fmt::format("section {} has {} bytes, no multiple of 16", header.name,
                                   section.size));
        Function function;
        function.name = name;
        function.section = i;
        function.code = std::move(section.bytes);
        function.code_file_offset = header.offset;
        if (cubin_.elf_abi == kAbi7) {
            function.registers = header.info >> 24;
            function.barriers = header.flags >> 20 & 0x7f;
        }
        section.bytes.clear();
        section.function = static_cast<uint32_t>(cubin_.functions.size());
        // Objects that were linked together may each have brought a local function of this name.
        function_by_name_.emplace(name, section.function);
        cubin_.functions.push_back(std::move(function));
    }
    for (uint32_t i = 0; i < cubin_.symbols.size(); ++i) {
        const Symbol& symbol = cubin_.symbols[i];
        if (symbol.kind != SymbolKind::kFunction) continue;
        const uint32_t owner = cubin_.sections[symbol.section].function;
        if (owner == kNone || symbol.name != cubin_.functions[owner].name) continue;
        if (symbol.offset != 0)
            file_.fail(cubin_.sections[symbol.section].file_offset,
                       fmt::format("function {} does not start its section", symbol.name));
        cubin_.functions[owner].symbol = i;
        cubin_.functions[owner].is_kernel = symbol.is_entry;
    }
    for (const Function& function : cubin_.functions)
        if (function.symbol == kNone)
            file_.fail(function.code_file_offset,
                       fmt::format("no symbol for function {}", function.name));
}

// The function called `name`; `info`, the section header's field, says which one if several are.
uint32_t Parser::owner_of(std::string_view name, uint32_t info) const {
    if (info < cubin_.sections.size() && cubin_.sections[info].function != kNone &&
        cubin_.functions[cubin_.sections[info].function].name == name)
        return cubin_.sections[info].function;
    const auto found = function_by_name_.find(name);
    return found == function_by_name_.end() ? kNone : found->second;
}

void Parser::give_sections_to_functions() {
    std::vector<ConstantBank> of_module;
    for (uint32_t i = 0; i < cubin_.sections.size(); ++i) {
        Section& section = cubin_.sections[i];
        const SectionName named = classify(section.name);
        if (named.kind == SectionKind::kText) continue;
        const uint64_t at = elf_.sections()[i].header_offset;
        if (!named.function.empty()) {
            section.function = owner_of(named.function, elf_.sections()[i].info);
        }
        Function* function =
            section.function == kNone ? nullptr : &cubin_.functions[section.function];
        if (named.kind == SectionKind::kShared && function != nullptr) {
            if (section.size > 1u << 24)
                file_.fail(at, fmt::format("section {} has {} bytes", section.name, section.size));
            function->shared_section = i;
            function->shared_bytes = static_cast<uint32_t>(section.size);
        }
        if (named.kind != SectionKind::kConstant) continue;
        if (section.bytes.size() != section.size || section.size > 65536 || named.bank > 31)
            file_.fail(at, fmt::format("section {} has {} bytes", section.name, section.size));
        if (function == nullptr && !named.function.empty()) continue;
        auto& banks = function == nullptr ? of_module : function->constant_banks;
        for (const ConstantBank& bank : banks)
            if (bank.bank == named.bank)
                file_.fail(at, fmt::format("a second section {}", section.name));
        banks.push_back({named.bank, i});
        if (function != nullptr && named.bank == 0) function->constant0 = section.bytes;
    }
    for (Function& function : cubin_.functions) {
        auto& banks = function.constant_banks;
        const size_t own = banks.size();
        for (const ConstantBank& bank : of_module)
            if (std::none_of(banks.begin(), banks.begin() + static_cast<std::ptrdiff_t>(own),
                             [&](const ConstantBank& b) { return b.bank == bank.bank; }))
                banks.push_back(bank);
        std::erase_if(banks, [](const ConstantBank& bank) { return bank.bank == 0; });
        std::sort(banks.begin(), banks.end(),
                  [](const ConstantBank& a, const ConstantBank& b) { return a.bank < b.bank; });
    }
}

void Parser::read_module_attributes(uint32_t section) {
    cubin_.attributes = read_attributes(contents(section));
    for (const Attribute& attribute : cubin_.attributes) {
        const auto code = static_cast<AttributeCode>(attribute.code);
        uint32_t Function::*field = nullptr;
        if (code == AttributeCode::kRegcount) field = &Function::registers;
        if (code == AttributeCode::kFrameSize) field = &Function::frame_bytes;
        if (code == AttributeCode::kMinStackSize) field = &Function::min_stack_bytes;
        if (code == AttributeCode::kMaxStackSize) field = &Function::max_stack_bytes;
        if (field == nullptr) continue;
        const uint32_t index = payload_word(attribute, 0);
        if (index >= cubin_.symbols.size())
            contents(section).fail(
                0, fmt::format("{} names symbol {} of {}", attribute_name(attribute.code), index,
                               cubin_.symbols.size()));
        const uint32_t owner = cubin_.symbols[index].section;
        if (owner == kNone || cubin_.sections[owner].function == kNone) continue;
        Function& function = cubin_.functions[cubin_.sections[owner].function];
        // Functions cloned into a kernel have symbols, and so attributes, of their own.
        if (function.symbol == index) function.*field = payload_word(attribute, 1);
    }
}

void Parser::read_all_attributes() {
    for (uint32_t i = 0; i < cubin_.sections.size(); ++i) {
        const Section& section = cubin_.sections[i];
        if (section.kind != SectionKind::kInfo) continue;
        if (section.name == ".nv.info") {
            read_module_attributes(i);
        } else if (section.function != kNone) {
            Function& function = cubin_.functions[section.function];
            if (!function.attributes.empty())
                file_.fail(elf_.sections()[i].header_offset,
                           fmt::format("a second section {}", section.name));
            function.attributes = read_attributes(contents(i));
            describe(function, function.attributes, contents(i));
        }
    }
}

void Parser::finish(Function& function) {
    const auto fail = [&](const std::string& reason) {
        file_.fail(function.code_file_offset,
                   fmt::format("function {}: {}", function.name, reason));
    };
    // CUDA 13 no longer says "unknown" of a recursive kernel, but marks those with real calls.
    const bool calls = std::any_of(
        function.attributes.begin(), function.attributes.end(), [](const Attribute& attribute) {
            return attribute.code == static_cast<uint8_t>(AttributeCode::kCrsStackSize);
        });
    function.unbounded_stack =
        function.min_stack_bytes == kNone || (calls && cubin_.elf_abi == kAbi8);
    if (function.min_stack_bytes == kNone) function.min_stack_bytes = 0;
    if (function.registers > 255) fail(fmt::format("{} registers", function.registers));
    if (function.frame_bytes > 1u << 24 || function.min_stack_bytes > 1u << 24)
        fail(fmt::format("a stack of {} bytes",
                         std::max(function.frame_bytes, function.min_stack_bytes)));
    function.local_bytes = std::max(function.frame_bytes, function.min_stack_bytes);
    if (!function.is_kernel) return;
    if (cubin_.arch >= kFirstReservedShared)
        function.reserved_shared_bytes = std::min(function.shared_bytes, kReservedShared);
    // A kernel without parameters does not say where they would be: behind all else.
    if (function.parameter_bytes == 0)
        function.parameter_base = static_cast<uint32_t>(function.constant0.size());
    const uint64_t end = uint64_t{function.parameter_base} + function.parameter_bytes;
    if (end > function.constant0.size()) {
        if (!function.constant0.empty() || function.parameter_bytes > 0)
            fail(fmt::format("its parameters end at {:#x}, its constant bank 0 at {:#x}", end,
                             function.constant0.size()));
    }
}

}  // namespace

const Function* Cubin::find_function(std::string_view name) const {
    for (const Function& function : functions)
        if (function.name == name) return &function;
    return nullptr;
}

const Symbol* Cubin::find_symbol(std::string_view name) const {
    const Symbol* local = nullptr;
    for (const Symbol& symbol : symbols) {
        if (symbol.name != name) continue;
        if (symbol.is_global) return &symbol;
        if (local == nullptr) local = &symbol;
    }
    return local;
}

Cubin parse(std::span<const uint8_t> bytes, std::string_view file_name) {
    return Parser(bytes, file_name).parse();
}

}  // namespace lockstep::cubin
