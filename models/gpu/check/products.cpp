// SPDX-License-Identifier: Apache-2.0
// A group is the run of products up to one that bears gsb0 (what wgmma.commit_group becomes);
// WARPGROUP.DEPBAR.LE gsb0, N waits until at most the last N committed groups are under way.
#include "models/gpu/check/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lockstep::gpu::check {

namespace {

using sass::Op;

constexpr std::uint32_t kNoWait = ~0u;

unsigned end(const sass::RegisterUse& use) {
    return use.number + unsigned{use.count};
}
unsigned end(const WarpProducts::Held& held) {
    return held.first + unsigned{held.count};
}
bool overlap(const sass::RegisterUse& use, const WarpProducts::Held& held) {
    return use.number < end(held) && held.first < end(use);
}

const sass::Row* register_rows(const sass::Warp& warp, unsigned first) {
    return &warp.row(sass::Operand::of_warp(sass::kRegisterRow + first));
}
std::vector<sass::Row> rows_of(const sass::Warp& warp, unsigned first, unsigned end) {
    return {register_rows(warp, first), register_rows(warp, end)};
}

/// What a use does to what a product holds; "": it may.
const char* misuse(const sass::RegisterUse& use, bool by_product, const WarpProducts::Held& held) {
    if (!held.is_result) return use.is_write ? "overwrites" : "";
    const bool is_accumulator = use.is_write || use.slot == sass::OperandSlot::kC;
    if (by_product && is_accumulator) return "";
    return use.is_write ? "overwrites" : "reads";
}

}  // namespace

bool is_product(Op op) {
    return op == Op::kHgmma || op == Op::kIgmma || op == Op::kBgmma || op == Op::kQgmma;
}

std::uint32_t groups_left(const sass::Word& word) {
    const bool waits = sass::op_of(word) == Op::kWarpgroup && word.bit(80);
    return waits ? static_cast<std::uint32_t>(word.bits(72, 3)) : kNoWait;
}

void ProductCheck::settle(const sass::Warp& warp, WarpProducts& products) const {
    for (const WarpProducts::Doubt& doubt : products.doubts)
        if (std::memcmp(register_rows(warp, doubt.first), doubt.before.data(),
                        doubt.before.size() * sizeof(sass::Row)) != 0)
            report_(doubt.misuse);
    products.doubts.clear();
}

void ProductCheck::before(const sass::Program& program, const sass::Warp& warp, std::uint32_t pc,
                          WarpProducts& products) const {
    constexpr unsigned kNoGroup = 7;
    settle(warp, products);
    const sass::Word& word = program.words()[pc];
    const Op op = sass::op_of(word);
    if (const std::uint32_t left = groups_left(word); left != kNoWait) {
        std::erase_if(products.held, [&](const WarpProducts::Held& held) {
            return held.group + left < products.group;
        });
        return;
    }
    const bool by_product = is_product(op);
    if (products.held.empty() && !by_product) return;
    for (const sass::RegisterUse& use : program.uses(pc)) {
        if (use.file != sass::RegisterFile::kVector) continue;
        for (const WarpProducts::Held& held : products.held) {
            const char* const does = overlap(use, held) ? misuse(use, by_product, held) : "";
            if (*does == '\0') continue;
            const unsigned number = std::max<unsigned>(use.number, held.first);
            const Misuse misuse{
                .pc = pc,
                .warp = warp.index,
                .what = fmt::format("{} R{}, {} of a wgmma that has not been waited for", does,
                                    number, held.is_result ? "a result" : "an operand"),
                .has_other = true,
                .other_pc = held.pc,
                .other_thread = warp.index * sass::kWarpSize,
                .other_what = "wgmma by",
                .check = "hazard"};
            if (held.is_result)
                report_(misuse);
            else
                products.doubts.push_back(
                    {misuse, number, rows_of(warp, number, std::min(end(use), end(held)))});
            break;
        }
    }
    if (!by_product) return;
    for (const sass::RegisterUse& use : program.uses(pc)) {
        const bool is_operand = !use.is_write && use.slot == sass::OperandSlot::kA;
        if (use.file != sass::RegisterFile::kVector || !(use.is_write || is_operand)) continue;
        // Products of a chain hold the same registers: the last one's group decides.
        std::erase_if(products.held, [&](const WarpProducts::Held& held) {
            return held.is_result == use.is_write && held.first == use.number &&
                   held.count == use.count;
        });
        products.held.push_back({pc, products.group, use.number, use.count, use.is_write});
    }
    if (word.bits(84, 3) != kNoGroup) ++products.group;
}

}  // namespace lockstep::gpu::check
