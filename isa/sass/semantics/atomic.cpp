// SPDX-License-Identifier: Apache-2.0
// Atomics on global (ATOMG, RED, REDG), shared (ATOMS) and generic (ATOM) memory. The hardware
// performs them where the memory is, in an order of its own; here lanes go in ascending order.
// Global ones are host atomics when CTAs run on several host threads. Encodings: sass_opcodes.csv
// of the reference (type bits 73-75 or 73-76, operation bits 87-90).
#include "isa/sass/semantics/atomic.h"

#include <atomic>

#include "isa/sass/semantics/access.h"
#include "isa/sass/semantics/atomic_update.h"
#include "isa/sass/semantics/memory.h"
#include "isa/sass/semantics/remote.h"

namespace lockstep::sass {

namespace {

/// Inlined where it is performed at once, with what is known there: shared atomics are frequent.
template <typename U>
[[gnu::always_inline]] inline void update_lanes(const Instruction&,
                                                const AtomicOperands& operands) {
    using Value = typename U::Value;
    constexpr unsigned kWords = sizeof(Value) / 4;
    const AtomicTarget target = operands.target;  // not behind a pointer while memory changes
    const Row* const b = operands.b;
    Row* const d = operands.d;
    for_each_lane(operands.lanes, [&](unsigned l) {
        for (unsigned part = 0; part < U::kCount; ++part) {
            const unsigned row = part * kWords;
            Value operand;
            if constexpr (kWords == 2)
                operand = lane64(b + row, l);
            else
                operand = b[row].lane[l];
            const Value old = target.update<Value>(l, part * sizeof(Value),
                                                   [&](Value v) { return U::apply(v, operand); });
            d[row].lane[l] = static_cast<std::uint32_t>(old);
            if constexpr (kWords == 2) d[row + 1].lane[l] = static_cast<std::uint32_t>(old >> 32);
        }
    });
}

template <typename U>
void update(const Instruction& in, Warp& warp, Space space) {
    perform_or_defer<update_lanes<U>>(in, warp, space, sizeof(typename U::Value) * U::kCount);
}

template <typename U>
void execute_global(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    update<U>(in, warp, Space::kGlobal);
    warp.write(in.pd[0], kAllLanes);
}

template <typename U>
void execute_shared(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    update<U>(in, warp, Space::kShared);
}

/// Integer operations work on shared memory through a generic address too.
template <typename U>
void execute_generic(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    for_each_space(warp, [&](Space space) { update<U>(in, warp, space); });
    warp.write(in.pd[0], kAllLanes);
}

/// red.async: in shared memory of the cluster, reported to an mbarrier there.
template <typename U>
void execute_async(const Instruction& in, Warp& warp) {
    const std::uint32_t* const barrier = compute_async_addresses(in, warp);
    access_cluster(in, warp,
                   {.width = sizeof(typename U::Value) * U::kCount,
                    .direction = Direction::kAtomic,
                    .perform = update_lanes<U>,
                    .barrier = barrier});
}

/// Floating-point ones do not: the predicate says where the operation was performed, and code
/// follows that performs it in another way where it was not.
template <typename U>
void execute_generic_float(const Instruction& in, Warp& warp) {
    if (in.pd[0] == kPredicateSink) return execute_generic<U>(in, warp);
    compute_addresses(in, warp);
    std::uint32_t performed = 0;
    const std::uint32_t mask = warp.mask;
    for_each_space(warp, [&](Space space) {
        if (space != Space::kGlobal) return;
        performed = warp.mask;
        update<U>(in, warp, space);
    });
    if (performed != mask) warp.access.lanes = performed;
    warp.write(in.pd[0], performed);
}

/// Which of the above an opcode uses.
enum class Kind { kGlobal, kShared, kGeneric, kAsync };

template <typename U>
void set_execute(Binder& binder, Kind kind, bool is_float = false) {
    constexpr unsigned kRows = sizeof(typename U::Value) / 4 * U::kCount;
    Instruction& out = binder.out;
    out.execute = kind == Kind::kGlobal   ? execute_global<U>
                  : kind == Kind::kShared ? execute_shared<U>
                  : kind == Kind::kAsync  ? execute_async<U>
                  : is_float              ? execute_generic_float<U>
                                          : execute_generic<U>;
    out.width = kRows * 4;
    out.b = binder.source_register(32, kRows);
    // A reduction has no result: its field for one holds something else.
    const unsigned base = binder.word.base_opcode();
    if (base == 0x18e || base == 0x1a6 || kind == Kind::kAsync)
        out.d = Operand::of_warp(kSinkRow);
    else
        out.d = binder.dest_register(16, kRows);
}

template <typename T>
bool set_integer(Binder& binder, Kind kind, unsigned operation) {
    switch (static_cast<AtomicOp>(operation)) {
        case AtomicOp::kAdd:
            set_execute<IntegerUpdate<T, AtomicOp::kAdd>>(binder, kind);
            return true;
        case AtomicOp::kMin:
            set_execute<IntegerUpdate<T, AtomicOp::kMin>>(binder, kind);
            return true;
        case AtomicOp::kMax:
            set_execute<IntegerUpdate<T, AtomicOp::kMax>>(binder, kind);
            return true;
        case AtomicOp::kInc:
            set_execute<IntegerUpdate<T, AtomicOp::kInc>>(binder, kind);
            return true;
        case AtomicOp::kDec:
            set_execute<IntegerUpdate<T, AtomicOp::kDec>>(binder, kind);
            return true;
        case AtomicOp::kAnd:
            set_execute<IntegerUpdate<T, AtomicOp::kAnd>>(binder, kind);
            return true;
        case AtomicOp::kOr:
            set_execute<IntegerUpdate<T, AtomicOp::kOr>>(binder, kind);
            return true;
        case AtomicOp::kXor:
            set_execute<IntegerUpdate<T, AtomicOp::kXor>>(binder, kind);
            return true;
        case AtomicOp::kExchange:
            set_execute<IntegerUpdate<T, AtomicOp::kExchange>>(binder, kind);
            return true;
    }
    return false;
}

template <typename Format, unsigned kParts>
bool set_pair(Binder& binder, Kind kind, AtomicOp operation) {
    if (operation == AtomicOp::kAdd)
        set_execute<PairUpdate<Format, AtomicOp::kAdd, kParts>>(binder, kind, true);
    else if (operation == AtomicOp::kMin)
        set_execute<PairUpdate<Format, AtomicOp::kMin, kParts>>(binder, kind, true);
    else if (operation == AtomicOp::kMax)
        set_execute<PairUpdate<Format, AtomicOp::kMax, kParts>>(binder, kind, true);
    else
        return false;
    return true;
}

/// The type field up to sm_89, which has the floating-point types too; on sm_90 integers alone.
bool set_typed(Binder& binder, Kind kind, unsigned operation) {
    const auto type = static_cast<unsigned>(binder.word.bits(73, 3));
    const bool is_add = operation == static_cast<unsigned>(AtomicOp::kAdd);
    if (type == 0) return set_integer<std::uint32_t>(binder, kind, operation);
    if (type == 1) return set_integer<std::int32_t>(binder, kind, operation);
    if (type == 2) return set_integer<std::uint64_t>(binder, kind, operation);
    if (binder.arch >= 90 || kind == Kind::kShared)
        return type == 3 && set_integer<std::int64_t>(binder, kind, operation);
    if (type == 5) return set_integer<std::int64_t>(binder, kind, operation);
    if (type == 3 && is_add)
        set_execute<FloatAdd<true>>(binder, kind, true);
    else if (type == 4)
        return operation <= 2 && set_pair<Fp16, 1>(binder, kind, static_cast<AtomicOp>(operation));
    else if (type == 6 && is_add)
        set_execute<DoubleAdd>(binder, kind, true);
    else
        return false;
    return true;
}

/// The type field of sm_90's floating-point opcodes: bits 73-76; operation in bits 88-89.
bool set_float_typed(Binder& binder, Kind kind) {
    const auto operation = static_cast<AtomicOp>(binder.word.bits(88, 2));
    const auto type = static_cast<unsigned>(binder.word.bits(73, 4));
    if (binder.word.bit(87)) return false;
    switch (type) {
        case 0:
            return set_pair<Fp16, 1>(binder, kind, operation);
        case 1:
            return set_pair<Fp16, 2>(binder, kind, operation);
        case 2:
            return set_pair<Fp16, 4>(binder, kind, operation);
        case 3:
            return set_pair<Bf16, 1>(binder, kind, operation);
        case 4:
            return set_pair<Bf16, 2>(binder, kind, operation);
        case 5:
            return set_pair<Bf16, 4>(binder, kind, operation);
        default:
            break;
    }
    if (operation != AtomicOp::kAdd) return false;
    switch (type) {
        case 9:
            set_execute<FloatAdd<true, 1>>(binder, kind, true);
            return true;
        case 10:
            set_execute<FloatAdd<true, 2>>(binder, kind, true);
            return true;
        case 11:
            set_execute<FloatAdd<true, 4>>(binder, kind, true);
            return true;
        case 12:
            set_execute<FloatAdd<false, 1>>(binder, kind, true);
            return true;
        case 13:
            set_execute<FloatAdd<false, 2>>(binder, kind, true);
            return true;
        case 14:
            set_execute<FloatAdd<false, 4>>(binder, kind, true);
            return true;
        case 15:
            set_execute<DoubleAdd>(binder, kind, true);
            return true;
        default:
            return false;
    }
}

// Operations of the forms without operand; sm_90 has moved them up by one.
unsigned count_operation(const Binder& binder) {
    return binder.arch < 90 ? 10 : 11;
}
constexpr unsigned kArriveOperation = 9;  ///< of mbarriers as sm_80 has them

bool is_exchange128(const Binder& binder) {
    return binder.arch >= 90 && binder.word.bits(73, 3) == 4 &&
           binder.word.bits(87, 4) == static_cast<unsigned>(AtomicOp::kExchange);
}

bool bind_atomic(Binder& binder, Kind kind) {
    const auto operation = static_cast<unsigned>(binder.word.bits(87, 4));
    binder.out.pd[0] = binder.dest_predicate(81);
    if (binder.word.form() == 7) {
        constexpr unsigned kU32 = 0, kU64 = 2;
        const auto type = static_cast<unsigned>(binder.word.bits(73, 3));
        if (operation == kArriveOperation && type == kU64 && binder.arch < 90)
            set_execute<ArriveUpdate>(binder, kind);
        else if (operation == count_operation(binder) && type == kU32)
            set_execute<CountUpdate>(binder, kind);
        else
            return false;
        binder.out.b = Operand::of_warp(kZeroRow);
    } else if (is_exchange128(binder)) {
        set_exchange128(binder);
    } else if (!set_typed(binder, kind, operation)) {
        return false;
    }
    return bind_global_address(binder, kAtomicAddress);
}

bool bind_atomg(Binder& binder) {
    return bind_atomic(binder, Kind::kGlobal);
}

bool bind_atom(Binder& binder) {
    return bind_atomic(binder, Kind::kGeneric);
}

bool bind_red(Binder& binder) {
    return set_typed(binder, Kind::kGlobal, static_cast<unsigned>(binder.word.bits(87, 3))) &&
           bind_global_address(binder, kReductionAddress);
}

bool bind_atomg_float(Binder& binder) {
    binder.out.pd[0] = binder.dest_predicate(81);
    return set_float_typed(binder, Kind::kGlobal) && bind_global_address(binder, kAtomicAddress);
}

bool bind_atom_float(Binder& binder) {
    binder.out.pd[0] = binder.dest_predicate(81);
    return set_float_typed(binder, Kind::kGeneric) && bind_global_address(binder, kAtomicAddress);
}

bool bind_redg_float(Binder& binder) {
    return set_float_typed(binder, Kind::kGlobal) && bind_global_address(binder, kReductionAddress);
}

bool bind_atoms(Binder& binder) {
    const auto operation = static_cast<unsigned>(binder.word.bits(87, 4));
    if (binder.word.form() == 7) {
        if (operation == kArriveOperation && binder.arch < 90)
            set_execute<ArriveUpdate>(binder, Kind::kShared);
        else if (operation == count_operation(binder))
            set_execute<CountUpdate>(binder, Kind::kShared);
        else
            return false;
        binder.out.b = Operand::of_warp(kZeroRow);
    } else if (is_exchange128(binder)) {
        set_exchange128(binder, true);
    } else if (!set_typed(binder, Kind::kShared, operation)) {
        return false;
    }
    bind_shared_address(binder, 64);
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x18a, bind_atom},
    {0x18b, bind_atom_cas},
    {0x18c, bind_atoms},
    {0x18d, bind_atoms_cas},
    {0x18e, bind_red},
    {0x1a2, bind_atom_float, 90},
    {0x1a3, bind_atomg_float, 90},
    {0x1a6, bind_redg_float, 90},
    {0x1a8, bind_atomg},
    {0x1a9, bind_atomg_cas},
};

}  // namespace

void perform_in_cluster(const Instruction& in, Warp& warp, unsigned width, PerformAtomic perform) {
    access_cluster(in, warp,
                   {.width = width,
                    .direction = Direction::kAtomic,
                    .perform = perform,
                    .returns = in.d != Operand::of_warp(kSinkRow)});
}

bool bind_redas(Binder& binder) {
    bind_async_address(binder, 72);
    return set_typed(binder, Kind::kAsync, static_cast<unsigned>(binder.word.bits(87, 4)));
}

std::byte* AtomicTarget::host_without_base(unsigned lane, unsigned offset) const {
    if (local == nullptr) return memory->find(address[lane]).at(address[lane]) + offset;
    const std::uint64_t at = address[lane] + offset;
    return local + at / 4 * sizeof(Row) + lane * 4;
}

std::span<const BindEntry> atomic_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
