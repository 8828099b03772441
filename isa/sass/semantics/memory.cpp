// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global, shared, local and generic addresses. What one lane accesses need not
// be contiguous with what another does; when it is, the access is one block copy. Caching hints
// (.EF .LTC128B .CONSTANT .STRONG ...) change no result: CTAs see memory in program order here.
// Bits: sass_opcodes.csv of the reference, read off NVIDIA's disassembler.
#include "isa/sass/semantics/memory.h"

#include "isa/sass/semantics/access.h"
#include "isa/sass/semantics/remote.h"

namespace lockstep::sass {

namespace {

template <Size S>
void execute_ldg(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    load_global<S>(in, warp);
    warp.write(in.pd[0], kAllLanes);
}

/// LDG with a source predicate: lanes where it is false read zero and touch nothing.
template <Size S>
void execute_ldg_predicated(const Instruction& in, Warp& warp) {
    const std::uint32_t mask = warp.mask;
    const std::uint32_t enabled = mask & warp.read(in.ps[0]);
    Row* const d = &warp.row(in.d);
    if (enabled != 0) {
        compute_addresses(in, warp);
        warp.mask = enabled;
        load_global<S>(in, warp);
        warp.mask = mask;
    } else {
        note_access(warp, Space::kGlobal, Direction::kLoad, Element<S>::kBytes);
        warp.access.lanes = 0;
    }
    constexpr Row kZeros{};
    for (unsigned i = 0; i < Element<S>::kRows; ++i) copy_lanes(d[i], kZeros, mask & ~enabled);
    warp.write(in.pd[0], enabled);
}

template <Size S>
void execute_stg(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    store_global<S>(in, warp);
}

template <Size S>
void execute_lds(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    load_shared<S>(in, warp);
}

template <Size S>
void execute_sts(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    store_shared<S>(in, warp);
}

template <Size S>
void execute_ldl(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    load_local(in, warp, S);
}

template <Size S>
void execute_stl(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    store_local(in, warp, S);
}

/// Loads and stores in the shared memory of another CTA, where it is.
template <Size S>
void load_there(const Instruction&, const AtomicOperands& operands) {
    for_each_lane(operands.lanes,
                  [&](unsigned l) { Element<S>::load(operands.d, l, operands.target.host(l, 0)); });
}

template <Size S>
void store_there(const Instruction&, const AtomicOperands& operands) {
    for_each_lane(operands.lanes, [&](unsigned l) {
        Element<S>::store(operands.b, l, operands.target.host(l, 0));
    });
}

template <Size S>
void execute_ld(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    for_each_space(warp, [&](Space space) {
        if (space == Space::kGlobal)
            load_global<S>(in, warp);
        else if (space == Space::kShared)
            load_shared<S>(in, warp);
        else if (space == Space::kCluster)
            access_cluster(in, warp,
                           {.width = Element<S>::kBytes,
                            .direction = Direction::kLoad,
                            .perform = load_there<S>,
                            .returns = true});
        else
            load_local(in, warp, S);
    });
}

template <Size S>
void execute_st(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    for_each_space(warp, [&](Space space) {
        if (space == Space::kGlobal)
            store_global<S>(in, warp);
        else if (space == Space::kShared)
            store_shared<S>(in, warp);
        else if (space == Space::kCluster)
            access_cluster(in, warp,
                           {.width = Element<S>::kBytes,
                            .direction = Direction::kStore,
                            .perform = store_there<S>});
        else
            store_local(in, warp, S);
    });
}

#define LOCKSTEP_BY_SIZE(function)                                                            \
    {                                                                                         \
        function<Size::kU8>, function<Size::kS8>, function<Size::kU16>, function<Size::kS16>, \
            function<Size::k32>, function<Size::k64>, function<Size::k128>                    \
    }
constexpr Execute kLdg[] = LOCKSTEP_BY_SIZE(execute_ldg);
constexpr Execute kLdgPredicated[] = LOCKSTEP_BY_SIZE(execute_ldg_predicated);
constexpr Execute kStg[] = LOCKSTEP_BY_SIZE(execute_stg);
constexpr Execute kLds[] = LOCKSTEP_BY_SIZE(execute_lds);
constexpr Execute kSts[] = LOCKSTEP_BY_SIZE(execute_sts);
constexpr Execute kLdl[] = LOCKSTEP_BY_SIZE(execute_ldl);
constexpr Execute kStl[] = LOCKSTEP_BY_SIZE(execute_stl);
constexpr Execute kLd[] = LOCKSTEP_BY_SIZE(execute_ld);
constexpr Execute kSt[] = LOCKSTEP_BY_SIZE(execute_st);
#undef LOCKSTEP_BY_SIZE

unsigned size_field(const Binder& binder) {
    return static_cast<unsigned>(binder.word.bits(73, 3));
}

/// Of LDG and LD. Before sm_80 they have .U.128 too: 16 bytes where all lanes load from one address
/// (so ptxas writes it, for read-only data alone).
unsigned load_size(const Binder& binder) {
    constexpr unsigned kUniform128 = 7;
    const unsigned size = size_field(binder);
    return binder.arch < 80 && size == kUniform128 ? static_cast<unsigned>(Size::k128) : size;
}

bool bind_size(Binder& binder, const Execute (&by_size)[kSizeCount], unsigned size) {
    if (size >= kSizeCount) return false;
    binder.out.width = kSizeBytes[size];
    binder.out.execute = by_size[size];
    return true;
}

bool bind_load(Binder& binder, const Execute (&by_size)[kSizeCount], unsigned size) {
    if (!bind_size(binder, by_size, size)) return false;
    binder.out.d = binder.dest_register(16, rows_of(static_cast<Size>(size)));
    return true;
}

bool bind_store(Binder& binder, const Execute (&by_size)[kSizeCount], unsigned data_bit = 32) {
    const unsigned size = size_field(binder);
    if (!bind_size(binder, by_size, size)) return false;
    binder.out.b = binder.source_register(data_bit, rows_of(static_cast<Size>(size)));
    return true;
}

/// The source predicate of loads since sm_75: bits 64-66 hold 7 - number, so that 0 is PT.
PredicateSource load_predicate(const Binder& binder) {
    return {static_cast<std::uint8_t>(kPredicatePT - binder.word.bits(64, 3)), binder.word.bit(67)};
}

bool bind_ldg(Binder& binder) {
    binder.out.ps[0] = load_predicate(binder);
    const bool is_always = binder.out.ps[0].index == kPredicatePT && !binder.out.ps[0].negate;
    binder.out.pd[0] = binder.dest_predicate(81);
    return bind_load(binder, is_always ? kLdg : kLdgPredicated, load_size(binder)) &&
           bind_global_address(binder, kLoadAddress);
}

bool bind_stg(Binder& binder) {
    return bind_store(binder, kStg) && bind_global_address(binder, kStoreAddress);
}

bool bind_ld(Binder& binder) {
    const PredicateSource predicate = load_predicate(binder);
    if (predicate.index != kPredicatePT || predicate.negate) return false;
    return bind_load(binder, kLd, load_size(binder)) &&
           bind_global_address(binder, kLoadAddress, true);
}

bool bind_st(Binder& binder) {
    const bool uniform = has_uniform_address(binder);
    return bind_store(binder, kSt, uniform ? 32 : 64) &&
           bind_global_address(binder, kStoreAddress, true);
}

bool bind_lds(Binder& binder) {
    bind_shared_address(binder, 32);
    return bind_load(binder, kLds, size_field(binder));
}

bool bind_sts(Binder& binder) {
    bind_shared_address(binder, 64);
    return bind_store(binder, kSts);
}

bool bind_ldl(Binder& binder) {
    bind_local_address(binder, 32);
    return bind_load(binder, kLdl, size_field(binder));
}

bool bind_stl(Binder& binder) {
    bind_local_address(binder, 64);
    return bind_store(binder, kStl);
}

constexpr BindEntry kEntries[] = {
    {0x180, bind_ld},
    {0x181, bind_ldg},
    {0x182, bind_ldc},
    {0x183, bind_ldl},
    {0x184, bind_lds},
    {0x185, bind_st},
    {0x186, bind_stg},
    {0x187, bind_stl},
    {0x188, bind_sts},
    {0x18f, bind_cache_control},  // CCTL
    {0x190, bind_cache_control},  // CCTLL
    {0x191, bind_cache_control},  // CCTLT
    {0x192, bind_fence},          // MEMBAR
    {0x1aa, bind_qspc},
    {0x1ab, bind_fence},      // ERRBAR, CGAERRBAR
    {0x1c6, bind_fence, 90},  // FENCE.VIEW.ASYNC
};

}  // namespace

std::span<const BindEntry> memory_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
