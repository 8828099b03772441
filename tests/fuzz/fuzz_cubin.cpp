// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as a cubin and as a host program, and what was read is used as a loader
// uses it: every relocation applied. Only InputError may come out.
#include <cstdlib>

#include "isa/cubin/cubin.h"
#include "isa/cubin/executable.h"
#include "isa/cubin/line_table.h"
#include "sim/error/error.h"

using namespace lockstep;
using namespace lockstep::cubin;

namespace {

void use(Cubin cubin) {
    for (const Relocation& r : cubin.relocations) {
        Section& section = cubin.sections.at(r.section);
        const bool code = section.kind == SectionKind::kText && section.function != kNone;
        try {
            apply(r.kind, code ? cubin.functions.at(section.function).code : section.bytes,
                  r.offset, cubin.symbols.at(r.symbol).offset + static_cast<uint64_t>(r.addend));
        } catch (const InputError&) {
            // The one error left: a kind that is not supported.
            if (value_kind(r.kind) != RelocationValue::kUnsupported) std::abort();
        }
    }
    for (const Function& f : cubin.functions) {
        if (f.is_kernel && f.parameter_base + f.parameter_bytes > f.constant0.size() &&
            f.parameter_bytes > 0)
            std::abort();
        for (const Parameter& p : f.parameters)
            if (p.offset + p.size > f.parameter_bytes) std::abort();
        for (const ConstantBank& bank : f.constant_banks) cubin.sections.at(bank.section);
        cubin.symbols.at(f.symbol);
        cubin.sections.at(f.section);
        const LineTable lines(cubin);
        for (uint64_t i = 0; i < f.code.size(); i += 16) lines.find(f.section, i);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::span<const uint8_t> bytes(data, size);
    try {
        use(parse(bytes, "x"));
    } catch (const InputError&) {
    }
    try {
        find_fatbins(bytes, "x");
    } catch (const InputError&) {
    }
    try {
        check_runnable(bytes, "x");
    } catch (const InputError&) {
    }
    identify(bytes);
    return 0;
}
