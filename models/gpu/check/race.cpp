// SPDX-License-Identifier: Apache-2.0
// Each access is held against the last write of its place, each write against two reads since. Two
// writes of the same value are not reported, nor are two strong accesses. What is compared is who
// and when, not what the memory held: a race is found whether or not it changed the result.
#include "models/gpu/check/race.h"

#include <algorithm>
#include <bit>

namespace lockstep::gpu::check {

struct RaceCheck::Me {
    const Observed& access;
    CtaClock& cta;
    unsigned lane;
    Record record;
};

void Shadow::split(unsigned granule) {
    std::vector<Cell> cells(kBytes / granule);
    for (unsigned i = 0; i < cells.size(); ++i) cells[i] = cells_[i * granule / granule_];
    if (granule < kWord) {
        std::vector<std::uint32_t> bytes(kBytes);
        for (unsigned i = 0; i < kBytes; ++i)
            bytes[i] = values_[i / kWord] >> (i % kWord * 8) & 0xff;
        values_ = std::move(bytes);
    }
    cells_ = std::move(cells);
    granule_ = granule;
}

void Shadow::clear(std::uint64_t generation) {
    generation_ = generation;
    granule_ = kVector;
    cells_.assign(kBytes / granule_, Cell{});
    values_.assign(kBytes / kWord, 0);
}

void RaceCheck::report(const Me& me, RaceKind kind, const Record& earlier, unsigned offset,
                       unsigned bytes) {
    report_(
        {kind, me.access.space, earlier, me.record, me.access.address[me.lane] + offset, bytes});
}

bool RaceCheck::may_race(const Me& me, const Record& earlier) {
    return earlier && !(earlier.is_strong() && me.access.is_strong) &&
           !(earlier.cta == me.record.cta && earlier.thread() == me.record.thread());
}

bool RaceCheck::races(const Me& me, const Record& earlier) const {
    return may_race(me, earlier) && !clock_.is_before(earlier, me.cta, me.access.warp, me.lane);
}

void RaceCheck::read(Cell& cell, const Me& me, unsigned offset, unsigned bytes) {
    if (races(me, cell.write)) {
        report(me, RaceKind::kReadAfterWrite, cell.write, offset, bytes);
        cell.write = {};  // once a write
    }
    const bool is_first =
        !cell.first || (cell.first.cta == me.record.cta &&
                        (cell.first.warp() == me.record.warp() ||
                         clock_.is_before(cell.first, me.cta, me.access.warp, me.lane)));
    (is_first ? cell.first : cell.last) = me.record;
}

void RaceCheck::write(Cell& cell, const Me& me, unsigned offset, unsigned bytes, bool same_value) {
    const Observed& access = me.access;
    if (cell.write && cell.instruction == instruction_) {
        // Another lane of the same instruction.
        if (!access.is_strong && !same_value && cell.write.thread() != me.record.thread())
            report(me, RaceKind::kWriteAfterWrite, cell.write, offset, bytes);
    } else if (races(me, cell.write) &&
               (access.is_atomic || cell.write.is_strong() || !same_value)) {
        report(me, RaceKind::kWriteAfterWrite, cell.write, offset, bytes);
    }
    for (const Record& read : {cell.first, cell.last}) {
        if (!may_race(me, read) || clock_.read_is_before(read, me.cta, access.warp, me.lane))
            continue;
        report(me, RaceKind::kWriteAfterRead, read, offset, bytes);
        break;
    }
    cell = {me.record, {}, {}, instruction_};
}

void RaceCheck::touch(Shadow& shadow, const Me& me, unsigned offset) {
    const auto at = static_cast<unsigned>((me.access.address[me.lane] + offset) % Shadow::kBytes);
    const unsigned bytes = shadow.granule();
    if (!me.access.is_write) return read(shadow.cell(at), me, offset, bytes);
    bool same_value = true;
    std::uint32_t* const values = shadow.values(at);
    const unsigned step = shadow.value_bytes();
    for (unsigned i = 0; i < bytes / step; ++i) {
        const std::uint32_t value =
            me.access.is_atomic ? 0 : me.access.value(me.lane, offset + i * step, step);
        same_value = same_value && values[i] == value;
        values[i] = value;
    }
    write(shadow.cell(at), me, offset, bytes, same_value);
}

void RaceCheck::forget(std::uint64_t begin, std::uint64_t bytes) {
    for (std::uint64_t at = begin; at < begin + bytes;) {
        const std::uint64_t page_end = (at / Shadow::kBytes + 1) * Shadow::kBytes;
        Shadow* const shadow = global_.find(at);
        if (shadow == nullptr) {
            at = page_end;
            continue;
        }
        shadow->renew(generation_);
        for (const std::uint64_t end = std::min(begin + bytes, page_end); at < end;
             at += shadow->granule())
            shadow->cell(static_cast<unsigned>(at % Shadow::kBytes)) = {};
    }
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
        shadow.fit(access.width);
        for (unsigned offset = 0; offset < access.width; offset += shadow.granule())
            touch(shadow, me, offset);
    }
}

}  // namespace lockstep::gpu::check
