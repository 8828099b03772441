// SPDX-License-Identifier: Apache-2.0
// Code of a module, bound function by function as kernels need it: a module of a library may hold
// thousands of kernels of which a program launches two.
#include "isa/sass/program.h"

#include <algorithm>

#include "isa/sass/binder.h"
#include "isa/sass/effects.h"
#include "sim/error/error.h"

namespace lockstep::sass {

namespace {

/// What an instruction without semantics does. The machine adds where and what it is.
void execute_unknown(const Instruction&, Warp&) {
    throw Fault{.kind = FaultKind::kNotExecuted, .what = "it is decoded, but not executed yet"};
}

/// Instructions of the uniform datapath and the units it feeds are guarded by uniform predicates;
/// VOTEU, which votes on the lanes that execute it, is not. nvdisasm prints @UP for exactly these.
bool has_uniform_guard(const Word& word) {
    constexpr unsigned kFirst = 0x080, kLast = 0x0bf, kVoteu = 0x086;
    constexpr unsigned kOthers[] = {
        0x15e,                                                          // WARPGROUPSET
        0x1b2,                                                          // SYNCS of uniform operands
        0x1b4, 0x1b5, 0x1b6, 0x1b7, 0x1b8, 0x1b9, 0x1ba, 0x1bb, 0x1bc,  // UTMA*, UBLK*
        0x1c3,                                                          // S2UR
        0x1c7, 0x1c8, 0x1c9, 0x1ce,  // UCGABAR_*, USETMAXREG, USETSHMSZ, ULEPC
    };
    const unsigned opcode = word.base_opcode();
    if (opcode >= kFirst && opcode <= kLast) return opcode != kVoteu;
    return std::find(std::begin(kOthers), std::end(kOthers), opcode) != std::end(kOthers);
}

void bind_guard(Binder& binder) {
    constexpr unsigned kBit = 12, kNegateBit = 15;
    const PredicateSource guard = has_uniform_guard(binder.word)
                                      ? binder.source_uniform_predicate(kBit, kNegateBit)
                                      : binder.source_predicate(kBit, kNegateBit);
    binder.out.guard = guard.index;
    binder.out.guard_invert = guard.negate ? kAllLanes : 0;
}

}  // namespace

std::uint32_t Program::add_function(std::string name, bool is_kernel,
                                    std::span<const std::byte> code) {
    const auto first = static_cast<std::uint32_t>(words_.size());
    const auto count = static_cast<std::uint32_t>(code.size() / Word::kBytes);
    for (std::uint32_t i = 0; i < count; ++i)
        words_.push_back(Word::load(code.data() + i * Word::kBytes));
    // One more than there are words: what runs past the last one faults too.
    Instruction unknown;
    unknown.execute = execute_unknown;
    code_.resize(words_.size() + 1, unknown);
    use_ranges_.resize(words_.size() + 1);
    functions_.push_back({std::move(name), first, count, is_kernel, false});
    return first;
}

void Program::bind(std::uint32_t first) {
    for (Function& function : functions_) {
        if (function.bound || (function.is_kernel && function.first != first)) continue;
        function.bound = true;
        for (std::uint32_t i = function.first; i < function.first + function.count; ++i) {
            Instruction bound;
            Binder binder(*this, i, bound);
            bind_guard(binder);
            const BindEntry* entry = find_bind_entry(words_[i], arch_);
            const bool known = entry != nullptr && entry->bind(binder);
            if (known) binder.finish();
            if (!known || !binder.supported()) bound.execute = execute_unknown;
            code_[i] = bound;
            use_ranges_[i] = {static_cast<std::uint32_t>(uses_.size()),
                              static_cast<std::uint32_t>(binder.uses().size())};
            uses_.insert(uses_.end(), binder.uses().begin(), binder.uses().end());
        }
        set_effects(std::span(words_).subspan(function.first, function.count),
                    std::span(code_).subspan(function.first, function.count));
    }
}

const Program::Function* Program::function_at(std::uint32_t index) const {
    auto it = std::upper_bound(functions_.begin(), functions_.end(), index,
                               [](std::uint32_t i, const Function& f) { return i < f.first; });
    if (it == functions_.begin()) return nullptr;
    --it;
    return index < it->first + it->count ? &*it : nullptr;
}

}  // namespace lockstep::sass
