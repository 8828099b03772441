// SPDX-License-Identifier: Apache-2.0
// Each access is held against the last write of its place, each write against two reads since. Two
// writes of the same value are not reported, nor are two strong accesses. What is compared is who
// and when, not what the memory held: a race is found whether or not it changed the result.
#include "models/gpu/check/race.h"

#include <bit>

namespace lockstep::gpu::check {

struct RaceCheck::Me {
    const Observed& access;
    CtaClock& cta;
    unsigned lane;
    Record record;
};

void Shadow::split() {
    std::vector<Cell> bytes(kBytes);
    for (unsigned i = 0; i < kBytes; ++i) {
        bytes[i] = cells_[i / kWord];
        bytes[i].value = bytes[i].value >> (i % kWord * 8) & 0xff;
    }
    cells_ = std::move(bytes);
    granule_ = 1;
}

void Shadow::renew(std::uint64_t generation) {
    if (generation_ == generation) return;
    generation_ = generation;
    granule_ = kWord;
    cells_.assign(kBytes / kWord, Cell{});
}

void RaceCheck::report(const Me& me, RaceKind kind, const Record& earlier, unsigned offset,
                       unsigned bytes) {
    report_(
        {kind, me.access.space, earlier, me.record, me.access.address[me.lane] + offset, bytes});
}

void RaceCheck::touch(Cell& cell, const Me& me, unsigned offset, unsigned bytes) {
    const Observed& access = me.access;
    const auto may_race_with = [&](const Record& earlier) {
        return earlier && !(earlier.is_strong() && access.is_strong) &&
               !(earlier.cta == me.record.cta && earlier.thread() == me.record.thread());
    };
    const auto races_with = [&](const Record& earlier) {
        return may_race_with(earlier) && !clock_.is_before(earlier, me.cta, access.warp, me.lane);
    };
    if (!access.is_write) {
        if (races_with(cell.write)) {
            report(me, RaceKind::kReadAfterWrite, cell.write, offset, bytes);
            cell.write = {};  // once a write
        }
        const bool is_first =
            !cell.first || (cell.first.cta == me.record.cta &&
                            (cell.first.warp() == me.record.warp() ||
                             clock_.is_before(cell.first, me.cta, access.warp, me.lane)));
        (is_first ? cell.first : cell.last) = me.record;
        return;
    }
    const std::uint32_t value = access.is_atomic ? 0 : access.value(me.lane, offset, bytes);
    if (cell.write && cell.instruction == instruction_) {
        // Another lane of the same instruction.
        if (!access.is_strong && cell.value != value && cell.write.thread() != me.record.thread())
            report(me, RaceKind::kWriteAfterWrite, cell.write, offset, bytes);
    } else if (races_with(cell.write) &&
               (access.is_atomic || cell.write.is_strong() || cell.value != value)) {
        report(me, RaceKind::kWriteAfterWrite, cell.write, offset, bytes);
    }
    for (const Record& read : {cell.first, cell.last}) {
        if (!may_race_with(read) || clock_.read_is_before(read, me.cta, access.warp, me.lane))
            continue;
        report(me, RaceKind::kWriteAfterRead, read, offset, bytes);
        break;
    }
    cell = {me.record, {}, {}, value, instruction_};
}

void RaceCheck::access(const Observed& access, CtaClock& cta, Shared& shared) {
    ++instruction_;
    const bool is_shared = access.space == sass::Space::kShared;
    if (!is_shared && !access.is_write) clock_.read_global(cta);
    std::uint64_t before = ~0ull;
    for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const std::uint64_t address = access.address[lane];
        if (!access.is_write && address == before) continue;  // lanes of one path read in step
        before = address;
        const Me me{access, cta, lane,
                    Record::make(cta.cta(), clock_.now(), access.pc, access.warp.index, lane,
                                 access.is_strong)};
        // Elements are aligned: they lie in one page.
        Shadow& shadow = is_shared ? shared.pages[address / Shadow::kBytes] : global_.page(address);
        shadow.renew(is_shared ? shared.generation : generation_);
        if (access.width < Shadow::kWord && shadow.granule() != 1) shadow.split();
        const unsigned step = shadow.granule();
        for (unsigned offset = 0; offset < access.width; offset += step)
            touch(shadow.cell((address + offset) % Shadow::kBytes), me, offset, step);
    }
}

}  // namespace lockstep::gpu::check
