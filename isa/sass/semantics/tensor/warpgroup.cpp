// SPDX-License-Identifier: Apache-2.0
// Operand fields of the wgmma family as ptxas 13 sets them: D at 16-23, C at 64-71; four uniform
// registers with the descriptors of A and B at 24-29, or at 32-37 where A is in registers (24-31),
// of which only B's count then; metadata at 40-47 with its selector at 48. Scale-D is a uniform
// predicate at 87-89, stored as complement, negated by bit 90.
#include "isa/sass/semantics/tensor/warpgroup.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "isa/sass/convergence.h"

namespace lockstep::sass {

namespace {

constexpr unsigned kARegisters = 4;
constexpr unsigned kDescriptorRows = 4;
constexpr unsigned kNoGroup = 7;

std::uint64_t descriptor(const Warp& warp, Operand operand, unsigned index) {
    const Row* rows = &warp.row(operand) + 2 * index;
    return rows[0].lane[0] | std::uint64_t{rows[1].lane[0]} << 32;
}

std::uint32_t& product_groups(Warp& warp) {
    return warp.row(Operand::of_warp(kProductGroupsRow)).lane[0];
}

void execute_arrive(const Instruction&, Warp&) {}

/// WARPGROUP.DEPBAR.LE gsb0, N. The registers hold the warp's results as soon as it has executed
/// the products: it waits for the other warps of its warpgroup, by coming here again.
void execute_wait(const Instruction& in, Warp& warp) {
    const std::uint32_t committed = product_groups(warp), left = in.modifiers;
    if (committed <= left) return;
    const auto& warps = warp.cta->warps;
    const std::size_t first = warp.index / kWarpgroupWarps * kWarpgroupWarps;
    for (std::size_t w = first; w < std::min(first + kWarpgroupWarps, warps.size()); ++w) {
        if (warps[w]->live == 0 || product_groups(*warps[w]) >= committed - left) continue;
        --warp.pc;
        return yield(warp);
    }
}

}  // namespace

unsigned warpgroup_columns(const Word& word) {
    constexpr unsigned kIntegerColumns[] = {8,   16,  24,  32,  48,  64,  80,  96,  112,
                                            128, 144, 160, 176, 192, 208, 224, 240, 256};
    constexpr unsigned kIgmma = 0x1f1, kBgmma = 0x1f2;
    const auto shape = static_cast<unsigned>(word.bits(53, 6));
    const auto integer = [&](unsigned number) {
        return number < std::size(kIntegerColumns) ? kIntegerColumns[number] : 0;
    };
    if (word.base_opcode() == kIgmma) return integer(shape / 3);  // k of 32, of 64, not used
    if (word.base_opcode() == kBgmma) return integer(shape);
    return kSliceColumns * (shape % 32 + 1);
}

bool bind_warpgroup_product(Binder& binder, unsigned registers) {
    const Word& word = binder.word;
    const unsigned columns = warpgroup_columns(word);
    Instruction& out = binder.out;
    const unsigned slices = columns / kSliceColumns;
    const unsigned count = slices * registers;
    const auto d = static_cast<unsigned>(word.bits(16, 8));
    const auto c = static_cast<unsigned>(word.bits(64, 8));
    const bool a_in_shared = word.form() == 4;
    const bool a_in_registers = word.form() == 6;
    if (!a_in_shared && !a_in_registers) return false;
    if (columns == 0 || !word.uniform() || d + count > kRegisterRZ ||
        (c != kRegisterRZ && c + count > kRegisterRZ))
        return false;
    WarpgroupProduct product{};
    product.slices = static_cast<std::uint8_t>(slices);
    product.registers = static_cast<std::uint8_t>(registers);
    product.a_in_shared = a_in_shared;
    product.has_addend = c != kRegisterRZ;
    product.is_sparse = word.bit(73);
    product.closes_group = word.bits(84, 3) != kNoGroup;
    product.selector = static_cast<std::uint8_t>(word.bits(48, 2));
    const unsigned descriptors = a_in_shared ? 24 : 32;
    if (word.bits(descriptors, 6) + kDescriptorRows > kUniformURZ) return false;
    out.d = binder.dest_register(16, count);
    if (a_in_registers) out.a = binder.source_register(24, kARegisters);
    out.b = binder.source_uniform(descriptors, kDescriptorRows);
    if (product.has_addend) out.c = binder.source_register(64, count);
    if (product.is_sparse) {
        if (word.bit(74)) return false;  // .REGOFFSET
        out.d2 = binder.source_register(40);
    }
    out.ps[0] = binder.source_inverted_uniform_predicate(87, 90);
    out.modifiers = std::bit_cast<std::uint32_t>(product);
    return true;
}

bool is_group_end(const Word& word) {
    return word.form() == 4 && word.bits(16, 8) == kRegisterRZ && word.bits(64, 8) == kRegisterRZ &&
           word.bits(24, 6) == kUniformURZ;
}

namespace {

WarpgroupProduct checked(const Instruction& in, const Warp& warp) {
    if (warp.mask != kAllLanes)
        throw Fault{.kind = FaultKind::kIllegalInstruction,
                    .what = "a warpgroup's matrix instruction needs all lanes of its warps",
                    .lane = static_cast<unsigned>(std::countr_zero(warp.mask))};
    const std::size_t first = warp.index / kWarpgroupWarps * kWarpgroupWarps;
    if (first + kWarpgroupWarps > warp.cta->warps.size())
        throw Fault{.kind = FaultKind::kIllegalInstruction,
                    .what = "a warpgroup is four whole warps: the CTA has no more for this one"};
    return std::bit_cast<WarpgroupProduct>(in.modifiers);
}

void execute_group_end(const Instruction& in, Warp& warp) {
    if (checked(in, warp).closes_group) ++product_groups(warp);
}

}  // namespace

bool bind_group_end(Binder& binder) {
    const WarpgroupProduct product{.closes_group = binder.word.bits(84, 3) != kNoGroup};
    binder.out.modifiers = std::bit_cast<std::uint32_t>(product);
    binder.out.execute = execute_group_end;
    return true;
}

WarpgroupOperands::WarpgroupOperands(const Instruction& in, Warp& warp)
    : product(checked(in, warp)),
      first_row(warp.index % kWarpgroupWarps * kWarpRows),
      accumulates(product.has_addend && warp.read(in.ps[0]) != 0),
      b(descriptor(warp, in.b, 1), product.b_is_mn_major ? Major::kMn : Major::kK, warp) {
    if (product.a_in_shared)
        a.emplace(descriptor(warp, in.b, 0), product.a_is_mn_major ? Major::kMn : Major::kK, warp);
    if (product.closes_group) ++product_groups(warp);
}

bool bind_warpgroup(Binder& binder) {
    const bool waits = binder.word.bit(80);
    if (waits) binder.out.modifiers = static_cast<std::uint32_t>(binder.word.bits(72, 3));
    binder.out.execute = waits ? execute_wait : execute_arrive;
    return true;
}

}  // namespace lockstep::sass
