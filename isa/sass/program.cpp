// SPDX-License-Identifier: Apache-2.0
// Code of a module, bound function by function as kernels need it: a module of a library may hold
// thousands of kernels of which a program launches two.
#include "isa/sass/program.h"

#include <algorithm>

#include "isa/sass/binder.h"
#include "sim/error/error.h"

namespace lockstep::sass {

namespace {

/// What an instruction without semantics does. The machine adds where and what it is.
void execute_unknown(const Instruction&, Warp&) {
    throw Fault{.kind = FaultKind::kIllegalInstruction, .what = "instruction is not executed"};
}

void bind_guard(Binder& binder) {
    // Uniform instructions are guarded by uniform predicates, which lie 8 places further.
    const auto number = static_cast<std::uint8_t>(binder.word.bits(12, 3));
    binder.out.guard = number;
    binder.out.guard_invert = binder.word.bit(15) ? kAllLanes : 0;
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
            if (entry == nullptr || !entry->bind(binder) || !binder.supported())
                bound.execute = execute_unknown;
            code_[i] = bound;
        }
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
