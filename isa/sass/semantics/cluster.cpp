// SPDX-License-Identifier: Apache-2.0
// What CTAs of a cluster do to each other: UCGABAR_ARV and UCGABAR_WAIT (barrier.cluster), STAS
// (st.async) and the accesses to each other's shared memory; and USETMAXREG (setmaxnreg), by which
// the warps of a CTA hand registers to each other. Encodings: listings of ptxas 13.0. A warp whose
// registers the pool does not hold tries again in a loop on the hardware; here it waits until
// others have released some, so that a pool that never holds enough is found as a deadlock.
#include <fmt/format.h>

#include <bit>

#include "isa/sass/convergence.h"
#include "isa/sass/semantics/remote.h"

namespace lockstep::sass {

namespace {

void check_clustered(const Warp& warp) {
    if (warp.cta->member != nullptr) return;
    throw Fault{.kind = FaultKind::kIllegalInstruction,
                .what = "barrier.cluster in a launch without clusters",
                .lane = static_cast<unsigned>(std::countr_zero(warp.mask))};
}

void execute_arrive(const Instruction&, Warp& warp) {
    check_clustered(warp);
    arrive_at_cluster(warp);
}

void execute_wait(const Instruction&, Warp& warp) {
    check_clustered(warp);
    if (!waits_for_cluster(warp)) return;
    split_off_others(warp, warp.mask);
    park(warp, PathStatus::kCluster);
}

bool bind_ucgabar(Binder& binder) {
    const unsigned form = binder.word.form();
    if (form != 4 && form != 6) return false;
    binder.out.execute = form == 4 ? execute_arrive : execute_wait;
    return true;
}

void execute_release_registers(const Instruction& in, Warp& warp) {
    const std::uint32_t count = warp.row(in.b).lane[0];
    if (count > warp.registers)
        throw Fault{.kind = FaultKind::kIllegalInstruction,
                    .what = fmt::format("setmaxnreg.dec to {} registers of a warp that has {}",
                                        count, warp.registers),
                    .lane = static_cast<unsigned>(std::countr_zero(warp.mask))};
    warp.cta->free_registers += warp.registers - count;
    warp.registers = count;
    for (Warp* other : warp.cta->warps)
        for (Path& path : other->parked)
            if (path.status == PathStatus::kRegisters) path.status = PathStatus::kReady;
}

void execute_take_registers(const Instruction& in, Warp& warp) {
    const std::uint32_t count = warp.row(in.b).lane[0];
    const std::uint32_t more = count - std::min(count, warp.registers);
    if (more > warp.cta->free_registers) {
        --warp.pc;  // to be executed again
        park(warp, PathStatus::kRegisters, static_cast<std::uint8_t>(count));
        return;
    }
    warp.cta->free_registers -= more;
    warp.registers += more;
    warp.predicate[in.pd[0]] = kAllLanes;
}

bool bind_usetmaxreg(Binder& binder) {
    const Word& word = binder.word;
    const bool releases = word.bit(72);
    constexpr unsigned kImmediate = 4, kUniform = 1;
    if (word.form() == kImmediate)
        binder.out.b = binder.literal(static_cast<std::uint32_t>(word.bits(32, 10)));
    else if (word.form() == kUniform)
        binder.out.b = binder.source_uniform(32);
    else
        return false;
    if (!releases) binder.out.pd[0] = binder.dest_uniform_predicate(81);
    binder.out.execute = releases ? execute_release_registers : execute_take_registers;
    return true;
}

template <Size S>
void store_lanes_there(const Instruction&, const AtomicOperands& operands) {
    for_each_lane(operands.lanes, [&](unsigned l) {
        Element<S>::store(operands.b, l, operands.target.host(l, 0));
    });
}

template <Size S>
void execute_stas(const Instruction& in, Warp& warp) {
    const std::uint32_t* const barrier = compute_async_addresses(in, warp);
    access_cluster(in, warp,
                   {.width = Element<S>::kBytes,
                    .direction = Direction::kStore,
                    .perform = store_lanes_there<S>,
                    .barrier = barrier});
}

bool bind_stas(Binder& binder) {
    const auto size = static_cast<Size>(binder.word.bits(73, 3));
    Instruction& out = binder.out;
    if (size == Size::k32)
        out.execute = execute_stas<Size::k32>;
    else if (size == Size::k64)
        out.execute = execute_stas<Size::k64>;
    else if (size == Size::k128)
        out.execute = execute_stas<Size::k128>;
    else
        return false;
    out.width = kSizeBytes[static_cast<unsigned>(size)];
    out.b = binder.source_register(32, rows_of(size));
    bind_async_address(binder, 90);
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x1bd, bind_stas, 90},
    {0x1be, bind_redas, 90},
    {0x1c7, bind_ucgabar, 90},
    {0x1c8, bind_usetmaxreg, 90},
};

}  // namespace

void bind_async_address(Binder& binder, unsigned wide_bit) {
    // .64: data and mbarrier address; without, there is no mbarrier, which PTX has no form of.
    binder.out.a = binder.source_register(24, binder.word.bit(wide_bit) ? 2 : 1);
    binder.out.d2 = binder.source_uniform(64);
    set_address(binder, AddressForm::k32PlusUniform, binder.word.signed_bits(40, 24));
}

const std::uint32_t* compute_async_addresses(const Instruction& in, Warp& warp) {
    compute_addresses(in, warp);
    for (std::uint64_t& address : warp.access.address)
        address = static_cast<std::uint32_t>(address);
    return (&warp.row(in.a))[1].lane;
}

void access_cluster(const Instruction& in, Warp& warp, const RemoteAccess& access) {
    note_access(warp, Space::kCluster, access.direction, access.width);
    const std::uint32_t bytes = warp.cta->launch->shared_bytes;
    const std::uint64_t* const address = warp.access.address;
    const auto check = [&](std::uint32_t place, unsigned width, unsigned lane) {
        const std::uint32_t offset = cluster_offset_of(place);
        if (offset % width == 0 && std::uint64_t{offset} + width <= bytes) return;
        const bool is_aligned = offset % width == 0;
        throw Fault{.kind = is_aligned ? FaultKind::kIllegalAddress : FaultKind::kMisalignedAddress,
                    .what = fmt::format(
                        "{}-byte access to {:#x} in shared::cluster memory: {}", width, place,
                        is_aligned ? fmt::format("the CTA has {} bytes of it", bytes)
                                   : "the address is not a multiple of it"),
                    .lane = lane,
                    .address = place,
                    .bytes = width,
                    .space = Space::kCluster};
    };
    constexpr unsigned kBarrierBytes = 8;
    for (std::uint32_t left = warp.mask; left != 0;) {
        RemoteOperation operation;
        const auto first = static_cast<unsigned>(std::countr_zero(left));
        const auto place = static_cast<std::uint32_t>(address[first]);
        cluster_target(warp, place, first);
        operation.instruction = &in;
        operation.warp = &warp;
        operation.pc = warp.pc - 1;
        operation.rank = cluster_rank_of(place);
        operation.width = access.width;
        operation.returns = access.returns;
        operation.reports = access.barrier != nullptr;
        operation.is_store = access.direction != Direction::kLoad;
        operation.perform = access.perform;
        for_each_lane(left, [&](unsigned l) {
            const auto to = static_cast<std::uint32_t>(address[l]);
            if (cluster_rank_of(to) != operation.rank) return;
            check(to, access.width, l);
            operation.lanes |= 1u << l;
            operation.offset[l] = cluster_offset_of(to);
            if (access.barrier == nullptr) return;
            const std::uint32_t barrier = access.barrier[l];
            if (cluster_rank_of(barrier) != operation.rank)
                throw Fault{.kind = FaultKind::kIllegalAddress,
                            .what = fmt::format("data at {:#x} and mbarrier at {:#x} lie in "
                                                "different CTAs of the cluster",
                                                to, barrier),
                            .lane = l,
                            .address = barrier,
                            .space = Space::kCluster};
            check(barrier, kBarrierBytes, l);
            operation.barrier[l] = cluster_offset_of(barrier);
        });
        left &= ~operation.lanes;
        const unsigned rows = (access.width + 3) / 4;
        std::copy_n(&warp.row(in.b), rows, operation.b);
        std::copy_n(&warp.row(in.c), rows, operation.c);
        send_remote(operation);
    }
}

std::span<const BindEntry> cluster_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
