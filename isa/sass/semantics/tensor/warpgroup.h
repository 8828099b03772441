// SPDX-License-Identifier: Apache-2.0
// What the matrix instructions of a warpgroup share (wgmma: HGMMA, QGMMA, IGMMA, BGMMA). Four warps
// multiply 64 rows of A by B; each executes the instruction for itself, when it comes to it, and
// computes its own 16 rows: from all of B and its rows of A. So a warp's rows of A must lie in
// shared memory when it issues the instruction, and B when the first warp does; both stay until the
// group has been waited for. A warp that waits for a group goes on when all four have come to its
// products, as on the chip, where they are computed together.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/sass/binder.h"
#include "isa/sass/semantics/tensor/shared_matrix.h"

namespace lockstep::sass {

constexpr unsigned kWarpgroupWarps = 4;
constexpr unsigned kWarpRows = 16;     ///< of A, D: a warp's share of the 64
constexpr unsigned kSliceColumns = 8;  ///< of D: what a run of two or four registers holds

/// How many groups of products a warp has committed, in lane 0: URZ's row, to which no operand
/// refers. Zeroed when a CTA starts.
constexpr unsigned kProductGroupsRow = kUniformRow + kUniformURZ;

/// What execution needs to know beside the operands; travels in Instruction::modifiers.
struct WarpgroupProduct {
    std::uint8_t slices;  ///< columns / 8; 0: no product, the end of a group
    bool a_in_shared : 1;
    bool a_is_mn_major : 1, b_is_mn_major : 1;
    bool negates : 1;     ///< A or B but not both
    bool has_addend : 1;  ///< C is not RZ
    bool is_sparse : 1;
    bool closes_group : 1;  ///< wgmma.commit_group follows
    std::uint8_t selector;
    std::uint8_t registers;  ///< of a slice: 4, or 2 where D is fp16
};
static_assert(sizeof(WarpgroupProduct) == sizeof(Instruction::modifiers));

/// Binds D, A, B, C, scale-D and metadata: Instruction::a is A in registers, b the descriptors (A's
/// and B's, two uniform registers each), ps[0] whether C is added, d2 the metadata. `registers`
/// are those of a slice of D. False where there is no such shape or no such registers.
bool bind_warpgroup_product(Binder& binder, unsigned registers);

/// Operands of one execution. Throws Fault unless all lanes of a whole warpgroup take part.
struct WarpgroupOperands {
    WarpgroupOperands(const Instruction& in, Warp& warp);

    WarpgroupProduct product;
    unsigned first_row;             ///< of A: this warp's
    bool accumulates;               ///< else D = A B
    std::optional<SharedMatrix> a;  ///< where A is in shared memory
    SharedMatrix b;
};

/// Columns of D that an instruction of the family computes; 0: there is no such shape.
unsigned warpgroup_columns(const Word& word);

/// What ptxas emits for a commit_group before which it finds no product to bear it (behind a loop
/// of them, say): an HGMMA with neither operands nor result.
bool is_group_end(const Word& word);
bool bind_group_end(Binder& binder);

bool bind_hgmma(Binder& binder);      ///< fp16, bf16, tf32
bool bind_qgmma(Binder& binder);      ///< fp8
bool bind_igmma(Binder& binder);      ///< 8-bit integers
bool bind_bgmma(Binder& binder);      ///< single bits
bool bind_warpgroup(Binder& binder);  ///< WARPGROUP.ARRIVE, .DEPBAR

}  // namespace lockstep::sass
