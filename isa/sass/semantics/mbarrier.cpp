// SPDX-License-Identifier: Apache-2.0
// SYNCS: operations on mbarriers in shared memory, of one CTA. Copies that report to an mbarrier
// are performed when a thread asks for a phase that is not complete without them, where the machine
// wants it so (AsyncEngine); a try that fails even then gives up the warp's turn, for it would wait
// on silicon. A test does not wait: its warp is to come round as often as those that work.
#include "isa/sass/semantics/mbarrier.h"

#include <cstring>

#include "isa/sass/async_engine.h"
#include "isa/sass/convergence.h"
#include "isa/sass/semantics/access.h"
#include "isa/sass/semantics/async_copy.h"
#include "isa/sass/semantics/memory.h"
#include "isa/sass/semantics/remote.h"

namespace lockstep::sass {

namespace {

constexpr unsigned kBytes = sizeof(std::uint64_t);

// What an ARRIVE counts (bits 84-86): A = arrivals, T = bytes; R and X take them from the register.
enum class Count : std::uint8_t { kA1TR, kA1T0, kA0T1, kA0TR, kA0TX, kART0 };
constexpr std::uint32_t kDrop = 1u << (kAddressBits + 3);
constexpr std::uint32_t kNoComplete = 1u << (kAddressBits + 4);

std::uint64_t load_barrier(std::uintptr_t base, std::uint64_t address) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, host_at(base, address), kBytes);
    return bits;
}

void store_barrier(std::uintptr_t base, std::uint64_t address, std::uint64_t bits) {
    std::memcpy(host_at(base, address), &bits, kBytes);
}

std::uintptr_t begin_barrier(const Instruction& in, Warp& warp, Direction direction) {
    compute_addresses(in, warp);
    note_access(warp, Space::kShared, direction, kBytes);
    return shared_target(warp, kBytes, direction).base;
}

void write64(Row* d, unsigned l, std::uint64_t value) {
    d[0].lane[l] = static_cast<std::uint32_t>(value);
    d[1].lane[l] = static_cast<std::uint32_t>(value >> 32);
}

/// .TMASK: each lane gets the lanes that arrive at the mbarrier by this instruction, and the upper
/// word from before the first of them: code follows that counts those in front of it.
void write_masks(const AtomicOperands& operands, const Row& first_high) {
    const std::uint64_t* const address = operands.target.address;
    for_each_lane(operands.lanes, [&](unsigned l) {
        const std::uint32_t lanes = operands.lanes & lane_mask([&](unsigned other) {
                                        return address[other] == address[l];
                                    });
        operands.d[0].lane[l] = lanes;
        operands.d[1].lane[l] = first_high.lane[std::countr_zero(lanes)];
    });
}

void arrive_lanes(const Instruction& in, const AtomicOperands& operands) {
    const std::uintptr_t base = operands.target.base;
    Row* const d = operands.d;
    const auto what = static_cast<Count>(in.modifiers >> kAddressBits & 7);
    Row high;
    for_each_lane(operands.lanes, [&](unsigned l) {
        const std::uint64_t address = operands.target.address[l];
        Mbarrier barrier(load_barrier(base, address));
        const std::uint32_t operand = operands.b[0].lane[l];
        const auto bytes = static_cast<std::int32_t>(operand);
        high.lane[l] = static_cast<std::uint32_t>(barrier.bits() >> 32);
        write64(d, l, barrier.bits());
        if (in.modifiers & kDrop) barrier.drop(what == Count::kART0 ? operand : 1);
        switch (what) {
            case Count::kA1TR:
                barrier.arrive(1, bytes);
                break;
            case Count::kA1T0:
                barrier.arrive(1, 0);
                break;
            case Count::kA0T1:
                barrier.arrive(0, 1);
                break;
            case Count::kA0TR:
                barrier.arrive(0, bytes);
                break;
            case Count::kA0TX:
                barrier.arrive(0, -bytes);
                break;
            case Count::kART0:
                barrier.arrive(operand, 0);
                break;
        }
        store_barrier(base, address, barrier.bits());
    });
    if (in.modifiers & kNoComplete) write_masks(operands, high);
}

/// Without a result (.RED), mbarriers may be in other CTAs of the cluster.
void execute_arrive(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    const std::uint32_t mask = warp.mask;
    const bool returns = in.d != Operand::of_warp(kSinkRow);
    const std::uint32_t remote = returns ? 0 : lanes_of_others(warp, mask);
    warp.mask = mask & ~remote;
    if (warp.mask != 0) {
        note_access(warp, Space::kShared, Direction::kAtomic, kBytes);
        const std::uintptr_t base = shared_target(warp, kBytes, Direction::kAtomic).base;
        arrive_lanes(in, {.target = {.address = warp.access.address, .base = base},
                          .lanes = warp.mask,
                          .b = &warp.row(in.b),
                          .d = &warp.row(in.d)});
    }
    warp.mask = remote;
    if (remote != 0)
        access_cluster(in, warp,
                       {.width = kBytes, .direction = Direction::kAtomic, .perform = arrive_lanes});
    warp.mask = mask;
}

/// True where the phase is no longer the one in bit 31 of the register.
void execute_phase_check(const Instruction& in, Warp& warp) {
    const std::uintptr_t base = begin_barrier(in, warp, Direction::kLoad);
    const Row& b = warp.row(in.b);
    AsyncEngine* const async = warp.cta->async;
    std::uint32_t done = 0;
    for_each_lane(warp.mask, [&](unsigned l) {
        const std::uint64_t address = warp.access.address[l];
        const auto is_done = [&] {
            const auto high = static_cast<std::uint32_t>(load_barrier(base, address) >> 32);
            return (high ^ b.lane[l]) >> 31;
        };
        std::uint32_t is_complete = is_done();
        while (is_complete == 0 && async != nullptr &&
               async->settle(*warp.cta, static_cast<std::uint32_t>(address)))
            is_complete = is_done();
        done |= is_complete << l;
    });
    warp.write(in.pd[0], done);
    const bool waits = (in.modifiers >> kAddressBits & 1) != 0;
    if (done != warp.mask) yield(warp, waits ? kWholeTurn : 0);
}

void execute_load(const Instruction& in, Warp& warp) {
    const std::uintptr_t base = begin_barrier(in, warp, Direction::kLoad);
    Row* const d = &warp.row(in.d);
    for_each_lane(warp.mask,
                  [&](unsigned l) { write64(d, l, load_barrier(base, warp.access.address[l])); });
}

/// Exchange and load with uniform operands: once for the warp.
void execute_uniform(const Instruction& in, Warp& warp) {
    const std::uint32_t mask = warp.mask;
    warp.mask = 1u << std::countr_zero(mask);
    const bool writes = in.modifiers >> kAddressBits & 1;
    const std::uintptr_t base =
        begin_barrier(in, warp, writes ? Direction::kAtomic : Direction::kLoad);
    const std::uint64_t address = warp.access.address[std::countr_zero(mask)];
    const std::uint64_t old = load_barrier(base, address);
    if (writes) store_barrier(base, address, lane64(&warp.row(in.b), 0));
    Row* const d = &warp.row(in.d);
    for (unsigned l = 0; l < kWarpSize; ++l) write64(d, l, old);
    warp.mask = mask;
}

/// ARRIVES.LDGSTSBAR: what the copies issued so far do when they are done, which they are.
void execute_copies_done(const Instruction& in, Warp& warp) {
    const std::uintptr_t base = begin_barrier(in, warp, Direction::kAtomic);
    for_each_lane(warp.mask, [&](unsigned l) {
        const std::uint64_t address = warp.access.address[l];
        const std::uint64_t bits = load_barrier(base, address);
        Mbarrier barrier(bits);
        switch (in.modifiers >> kAddressBits) {
            case 0:
                barrier = Mbarrier(arrive_sm80(bits));
                break;
            case 1:
                barrier.arrive(1, 0);
                break;  // .ARVCNT
            default:
                barrier.arrive(0, -1);
                break;  // .TRANSCNT
        }
        store_barrier(base, address, barrier.bits());
    });
}

}  // namespace

bool is_phase_check(const Instruction& in) {
    return in.execute == execute_phase_check;
}

bool bind_syncs_transaction(Binder& binder) {
    const Word& word = binder.word;
    Instruction& out = binder.out;
    out.width = kBytes;
    bind_shared_address(binder, 64);
    out.b = binder.source_register(32);
    if (word.form() == 2) {
        if (word.bits(70, 2) != 1) return false;
        out.pd[0] = binder.dest_predicate(81);
        out.modifiers |= std::uint32_t{word.bit(72)} << kAddressBits;  // .TRYWAIT
        out.execute = execute_phase_check;
        return true;
    }
    const auto count = static_cast<std::uint32_t>(word.bits(84, 3));
    if (word.form() != 4 || word.bits(70, 2) != 0 || count > 5) return false;
    out.modifiers |= count << kAddressBits;
    if (word.bit(73)) out.modifiers |= kNoComplete;
    if (word.bit(75)) out.modifiers |= kDrop;
    out.d = word.bit(74) ? Operand::of_warp(kSinkRow) : binder.dest_register(16, 2);
    out.execute = execute_arrive;
    return true;
}

bool bind_syncs_access(Binder& binder) {
    const Word& word = binder.word;
    if (word.form() == 4) {  // .CCTL
        binder.out.execute = [](const Instruction&, Warp&) {};
        return true;
    }
    if (word.form() != 2 || !word.bit(73)) return false;
    binder.out.width = kBytes;
    bind_shared_address(binder, 64);
    binder.out.d = binder.dest_register(16, 2);
    binder.out.execute = execute_load;
    return true;
}

bool bind_syncs_uniform(Binder& binder) {
    const Word& word = binder.word;
    const unsigned form = word.form();
    const bool exchanges = form == 2 && word.bits(72, 2) == 1;
    if (!exchanges && !(form == 4 && word.bits(72, 2) == 0)) return false;
    Instruction& out = binder.out;
    out.width = kBytes;
    out.d2 = binder.source_uniform(24);
    set_address(binder, AddressForm::k32PlusUniform, word.signed_bits(40, 24));
    if (exchanges) out.b = binder.source_uniform(32, 2);
    out.modifiers |= std::uint32_t{exchanges} << kAddressBits;
    out.d = binder.dest_uniform(16, 2);
    out.execute = execute_uniform;
    return true;
}

bool bind_arrives(Binder& binder) {
    const Word& word = binder.word;
    const auto kind = static_cast<std::uint32_t>(word.bits(70, 2));
    if (word.bits(72, 4) != 0b1010 || kind == 3 || (kind == 0) != (binder.arch < 90)) return false;
    binder.out.width = kBytes;
    binder.out.a = binder.source_register(24);
    binder.out.d2 = binder.source_uniform(64);
    set_address(binder, AddressForm::k32PlusUniform, word.signed_bits(40, 24));
    binder.out.modifiers |= kind << kAddressBits;
    binder.out.execute = execute_copies_done;
    return true;
}

}  // namespace lockstep::sass
