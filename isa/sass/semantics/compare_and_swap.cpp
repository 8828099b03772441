// SPDX-License-Identifier: Apache-2.0
// Compare and swap: .CAS returns the old value; .CAST (with .SPIN, a hint) returns 1 where it
// swapped, 0 where not, and the program tries again (observed in what the compiler emits). 128-bit
// ones exist for global and shared memory.
#include <cstring>
#include <mutex>

#include "isa/sass/semantics/atomic.h"
#include "isa/sass/semantics/memory.h"

namespace lockstep::sass {

namespace {

constexpr std::uint32_t kReturnsSuccess = 1u << kAddressBits;

struct Value128 {
    std::uint32_t word[4];
    friend bool operator==(const Value128&, const Value128&) = default;
};

template <typename Value>
Value read_lane(const Row* rows, unsigned l) {
    Value value;
    std::uint32_t words[sizeof(Value) / 4];
    for (unsigned i = 0; i < std::size(words); ++i) words[i] = rows[i].lane[l];
    std::memcpy(&value, words, sizeof value);
    return value;
}

/// Host processors have no portable 128-bit compare and swap; these are rare enough for a lock.
/// They are atomic towards each other, which is what programs use them for.
std::mutex wide_mutex;

template <typename Value>
void swap_lanes(const Instruction& in, const AtomicOperands& operands) {
    const AtomicTarget& target = operands.target;
    Row result[sizeof(Value) / 4];
    for_each_lane(operands.lanes, [&](unsigned l) {
        const auto wanted = read_lane<Value>(operands.b, l);
        const auto value = read_lane<Value>(operands.c, l);
        Value old;
        if constexpr (sizeof(Value) == 16) {
            std::byte* const p = target.host(l, 0);
            const std::scoped_lock lock(wide_mutex);
            std::memcpy(&old, p, sizeof old);
            if (old == wanted) std::memcpy(p, &value, sizeof value);
        } else {
            old = target.update<Value>(l, 0, [&](Value v) { return v == wanted ? value : v; });
        }
        std::uint32_t words[sizeof(Value) / 4] = {old == wanted};
        if (!(in.modifiers & kReturnsSuccess)) std::memcpy(words, &old, sizeof old);
        for (unsigned i = 0; i < std::size(words); ++i) result[i].lane[l] = words[i];
    });
    for (unsigned i = 0; i < std::size(result); ++i)
        copy_lanes(operands.d[i], result[i], operands.lanes);
}

template <typename Value>
void swap(const Instruction& in, Warp& warp, Space space) {
    perform_or_defer<swap_lanes<Value>>(in, warp, space, sizeof(Value));
}

/// Exchange of 128 bits: the old value, as above.
void exchange_lanes(const Instruction&, const AtomicOperands& operands) {
    for_each_lane(operands.lanes, [&](unsigned l) {
        const auto value = read_lane<Value128>(operands.b, l);
        Value128 old;
        std::byte* const p = operands.target.host(l, 0);
        const std::scoped_lock lock(wide_mutex);
        std::memcpy(&old, p, sizeof old);
        std::memcpy(p, &value, sizeof value);
        for (unsigned i = 0; i < 4; ++i) operands.d[i].lane[l] = old.word[i];
    });
}

void execute_exchange128(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    for_each_space(warp, [&](Space space) {
        if (space != Space::kLocal)
            perform_or_defer<exchange_lanes>(in, warp, space, sizeof(Value128));
    });
    warp.write(in.pd[0], kAllLanes);
}

void execute_shared_exchange128(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    perform_or_defer<exchange_lanes>(in, warp, Space::kShared, sizeof(Value128));
}

template <typename Value>
void execute_global(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    swap<Value>(in, warp, Space::kGlobal);
    warp.write(in.pd[0], kAllLanes);
}

template <typename Value>
void execute_shared(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    swap<Value>(in, warp, Space::kShared);
}

/// Where the result predicate is used, local memory is left to the code that follows.
template <typename Value>
void execute_generic(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    std::uint32_t performed = 0;
    for_each_space(warp, [&](Space space) {
        if (space == Space::kLocal && (in.pd[0] != kPredicateSink || sizeof(Value) == 16)) return;
        performed |= warp.mask;
        swap<Value>(in, warp, space);
    });
    warp.write(in.pd[0], performed);
}

bool bind_swap(Binder& binder, const Execute (&by_size)[3]) {
    unsigned size = 0;
    switch (binder.word.bits(73, 3)) {
        case 0:
        case 1:
            size = 0;
            break;
        case 2:
            size = 1;
            break;
        case 4:
            size = 2;
            break;
        default:
            return false;
    }
    if (size == 0) binder.note_word_swap();
    const unsigned rows = 1u << size;
    binder.out.width = static_cast<std::uint8_t>(4 * rows);
    binder.out.d = binder.dest_register(16, rows);
    binder.out.b = binder.source_register(32, rows);
    binder.out.c = binder.source_register(64, rows);
    binder.out.execute = by_size[size];
    return true;
}

#define LOCKSTEP_BY_SIZE(function) \
    { function<std::uint32_t>, function<std::uint64_t>, function<Value128> }
constexpr Execute kGlobal[] = LOCKSTEP_BY_SIZE(execute_global);
constexpr Execute kShared[] = LOCKSTEP_BY_SIZE(execute_shared);
constexpr Execute kGeneric[] = LOCKSTEP_BY_SIZE(execute_generic);
#undef LOCKSTEP_BY_SIZE

/// These opcodes have no form with a uniform register.
void bind_address(Binder& binder) {
    const bool extended = binder.word.bit(72);
    binder.out.a = binder.source_register(24, extended ? 2 : 1);
    set_address(binder, extended ? AddressForm::k64 : AddressForm::k32,
                binder.word.signed_bits(40, 24));
}

}  // namespace

void set_exchange128(Binder& binder, bool in_shared) {
    binder.out.width = sizeof(Value128);
    binder.out.d = binder.dest_register(16, 4);
    binder.out.b = binder.source_register(32, 4);
    binder.out.execute = in_shared ? execute_shared_exchange128 : execute_exchange128;
}

bool bind_atom_cas(Binder& binder) {
    binder.out.pd[0] = binder.dest_predicate(81);
    if (binder.word.bit(87)) binder.out.modifiers |= kReturnsSuccess;
    bind_address(binder);
    return bind_swap(binder, kGeneric);
}

bool bind_atomg_cas(Binder& binder) {
    binder.out.pd[0] = binder.dest_predicate(81);
    bind_address(binder);
    return bind_swap(binder, kGlobal);
}

bool bind_atoms_cas(Binder& binder) {
    if (binder.word.bit(87)) binder.out.modifiers |= kReturnsSuccess;
    bind_shared_address(binder, 64);
    return bind_swap(binder, kShared);
}

}  // namespace lockstep::sass
