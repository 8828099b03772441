// SPDX-License-Identifier: Apache-2.0
// Plain tables in file order; the same file always gives the same bytes.
#include "isa/cubin/listing.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace lockstep::cubin {

namespace {

std::string dim3(const std::array<uint32_t, 3>& d) {
    return fmt::format("{}x{}x{}", d[0], d[1], d[2]);
}

std::string target(int arch, bool accelerated, bool family) {
    return fmt::format("{}{}", arch, accelerated ? "a" : family ? "f" : "");
}

std::string_view space(const Cubin& cubin, const Symbol& symbol) {
    switch (symbol.kind) {
        case SymbolKind::kGlobal:
            return symbol.is_managed ? "managed" : "global";
        case SymbolKind::kConstant:
            return cubin.sections[symbol.section].bank == 3 ? "constant" : "";  // 3: __constant__
        default:
            return "";
    }
}

}  // namespace

std::string describe(const Cubin& cubin, const Function& function, std::string_view prefix) {
    std::string text;
    auto out = std::back_inserter(text);
    const auto line = [&](std::string_view what, const auto& value) {
        fmt::format_to(out, "{}{:<12} {}\n", prefix, what, value);
    };
    line(function.is_kernel ? "kernel" : "function", function.name);
    line("code", fmt::format("{} instructions, sm_{}", function.code.size() / 16, cubin.arch));
    line("registers", function.registers);
    line("shared", fmt::format("{} bytes", function.shared_bytes - function.reserved_shared_bytes));
    line("local", fmt::format("{} bytes{}", function.local_bytes,
                              function.unbounded_stack ? " and a stack of unknown depth" : ""));
    if (function.barriers > 0) line("barriers", function.barriers);
    if (function.max_threads[0] > 0) line("max threads", dim3(function.max_threads));
    if (function.required_threads[0] > 0) line("block", dim3(function.required_threads));
    if (function.cluster[0] > 0) line("cluster", dim3(function.cluster));
    for (size_t i = 0; i < function.parameters.size(); ++i)
        line(fmt::format("parameter {}", i),
             fmt::format("{} bytes at c[0x0][{:#x}]", function.parameters[i].size,
                         function.parameter_base + function.parameters[i].offset));
    return text;
}

std::string listing(const Cubin& cubin) {
    std::string text = fmt::format("cubin for sm_{}, ABI {}{}\n", cubin.arch, cubin.elf_abi,
                                   cubin.relocatable ? ", relocatable" : "");
    auto out = std::back_inserter(text);
    fmt::format_to(out, "\n{:<10} {:>12} {:>9} {:>7} {:>7} {:>10}  {}\n", "", "instructions",
                   "registers", "shared", "local", "parameters", "name");
    for (const Function& f : cubin.functions)
        fmt::format_to(out, "{:<10} {:>12} {:>9} {:>7} {:>7} {:>10}  {}\n",
                       f.is_kernel ? "kernel" : "function", f.code.size() / 16, f.registers,
                       f.shared_bytes - f.reserved_shared_bytes, f.local_bytes, f.parameter_bytes,
                       f.name);
    bool first = true;
    for (const Symbol& symbol : cubin.symbols) {
        const std::string_view where = space(cubin, symbol);
        if (where.empty()) continue;
        if (first) fmt::format_to(out, "\n{:<10} {:>12}  {}\n", "", "bytes", "variable");
        first = false;
        fmt::format_to(out, "{:<10} {:>12}  {}\n", where, symbol.size, symbol.name);
    }
    return text;
}

std::string listing(std::span<const Image> images) {
    static constexpr std::array<std::string_view, 3> kCompressions = {"", ", LZ4", ", zstd"};
    std::string text;
    auto out = std::back_inserter(text);
    for (const Image& image : images) {
        const std::string to = target(image.arch, image.accelerated, image.family);
        if (image.kind == ImageKind::kElf) fmt::format_to(out, "cubin sm_{}", to);
        if (image.kind == ImageKind::kPtx)
            fmt::format_to(out, "PTX {}.{} compute_{}", image.version_major, image.version_minor,
                           to);
        if (image.kind == ImageKind::kOther) fmt::format_to(out, "other {}", to);
        fmt::format_to(out, ", {} bytes{}\n", image.size,
                       kCompressions[static_cast<size_t>(image.compression)]);
    }
    return text;
}

}  // namespace lockstep::cubin
