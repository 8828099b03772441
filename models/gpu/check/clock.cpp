// SPDX-License-Identifier: Apache-2.0
// Epochs as in FastTrack (Flanagan and Freund, PLDI 2009), coarser where a GPU's programs allow it.
// Within a CTA a warp is the unit: what one lane learns its whole warp knows; lanes of one path run
// in step, those of parted paths are ordered up to where they parted, or as two warps are. A
// barrier of all warps is one stamp. Between CTAs the unit is the CTA, and all releases of a launch
// stand in one line: to acquire one is to know those before it. Each of these can hide a race and
// none can invent one.
#include "models/gpu/check/clock.h"

#include <algorithm>
#include <bit>

namespace lockstep::gpu::check {

namespace {

constexpr std::uint64_t kWordBytes = 4;

}  // namespace

void CtaClock::join(unsigned warp, unsigned other) {
    for (unsigned u = 0; u < warps_; ++u)
        known(warp, u) = std::max(known(warp, u), known(other, u));
}

void Clock::begin_launch() {
    now_ = 1;
    releases_.clear();
    releases_of_reads_.clear();
    global_.clear();
}

bool Clock::is_before(const Record& record, CtaClock& cta, const sass::Warp& warp,
                      unsigned lane) const {
    if (record.cta != cta.cta_) {
        const auto found = releases_.find(record.cta);
        if (found == releases_.end()) return false;
        const auto& list = found->second;
        const auto first = std::partition_point(
            list.begin(), list.end(), [&](const Release& r) { return r.fence <= record.stamp; });
        return first != list.end() && first->release <= cta.acquired_;
    }
    if (record.stamp < cta.all_before_) return true;
    if (cta.known(warp.index, record.warp()) > record.stamp) return true;
    if (record.warp() != warp.index) return false;
    if (warp.active >> record.lane() & 1) return true;
    if (warp.index >= cta.together_.size() || cta.together_[warp.index] == nullptr) return false;
    return (*cta.together_[warp.index])[record.lane()][lane] > record.stamp;
}

bool Clock::read_is_before(const Record& record, CtaClock& cta, const sass::Warp& warp,
                           unsigned lane) const {
    if (record.cta != cta.cta_) {
        const auto found = releases_of_reads_.find(record.cta);
        if (found != releases_of_reads_.end()) {
            const auto& list = found->second;
            const auto first = std::upper_bound(list.begin(), list.end(), record.stamp);
            if (first != list.end() && *first <= cta.acquired_) return true;
        }
    }
    return is_before(record, cta, warp, lane);
}

void Clock::paths_change(CtaClock& cta, unsigned warp, std::uint32_t before) {
    ++now_;
    if (std::popcount(before) < 2) return;
    if (cta.together_.size() <= warp) cta.together_.resize(warp + 1);
    auto& together = cta.together_[warp];
    if (together == nullptr) together = std::make_unique<CtaClock::Together>();
    for (std::uint32_t left = before; left != 0; left &= left - 1) {
        auto& row = (*together)[static_cast<unsigned>(std::countr_zero(left))];
        for (unsigned l = 0; l < sass::kWarpSize; ++l) row[l] = before >> l & 1 ? now_ : row[l];
    }
}

void Clock::barrier_reached(CtaClock& cta, unsigned warp, unsigned number, bool waits) {
    CtaClock::Barrier& barrier = cta.barrier_[number];
    barrier.known.resize(cta.warps_);
    for (unsigned u = 0; u < cta.warps_; ++u)
        barrier.known[u] = std::max(barrier.known[u], cta.known(warp, u));
    barrier.known[warp] = ++now_;
    if (waits) barrier.waiting |= 1u << warp;
}

void Clock::barrier_completed(CtaClock& cta, unsigned number, std::uint32_t live_warps) {
    CtaClock::Barrier& barrier = cta.barrier_[number];
    if ((live_warps & ~barrier.waiting) == 0) {
        cta.all_before_ = ++now_;
    } else {
        for (std::uint32_t left = barrier.waiting; left != 0; left &= left - 1) {
            const auto warp = static_cast<unsigned>(std::countr_zero(left));
            for (unsigned u = 0; u < cta.warps_; ++u)
                cta.known(warp, u) = std::max(cta.known(warp, u), barrier.known[u]);
        }
    }
    barrier = {};
}

void Clock::cluster_barrier(std::span<CtaClock* const> ctas) {
    // What all have done is released by all, and then acquired by all.
    ++now_;
    for (CtaClock* const cta : ctas) {
        releases_[cta->cta_].push_back({now_, now_});
        releases_of_reads_[cta->cta_].push_back(now_);
        cta->has_read_ = false;
    }
    const Stamp released = now_++;
    for (CtaClock* const cta : ctas) {
        cta->acquired_ = std::max(cta->acquired_, released);
        cta->all_before_ = now_;
    }
}

void Clock::release(CtaClock& cta, unsigned warp, std::uint32_t offset) {
    CtaClock::Word& word = cta.words_[offset / kWordBytes];
    word.warps |= 1u << warp;
    word.stamp = now_ + 1;
}

void Clock::acquire(CtaClock& cta, unsigned warp, std::uint32_t offset) {
    const auto found = cta.words_.find(offset / kWordBytes);
    if (found == cta.words_.end()) return;
    const CtaClock::Word word = found->second;
    for (std::uint32_t left = word.warps; left != 0; left &= left - 1) {
        const auto other = static_cast<unsigned>(std::countr_zero(left));
        if (cta.known(warp, other) >= word.stamp) continue;
        cta.join(warp, other);
        cta.known(warp, other) = word.stamp;
    }
}

void Clock::fence(CtaClock& cta, bool beyond_cta) {
    ++now_;
    if (beyond_cta) cta.fence_ = now_;
}

void Clock::release_global(CtaClock& cta, unsigned warp, std::uint64_t address) {
    GlobalWord& word = global_[address / kWordBytes];
    word.release = now_ + 1;
    if (word.cta != cta.cta_) word.warps = 0;
    word.cta = cta.cta_;
    word.warps |= 1u << warp;
    if (cta.has_read_) releases_of_reads_[cta.cta_].push_back(word.release);
    cta.has_read_ = false;
    if (cta.fence_ == 0) return;
    auto& list = releases_[cta.cta_];
    if (list.empty() || list.back().fence != cta.fence_) list.push_back({cta.fence_, word.release});
}

void Clock::acquire_global(CtaClock& cta, unsigned warp, std::uint64_t address) {
    const auto found = global_.find(address / kWordBytes);
    if (found == global_.end()) return;
    const GlobalWord word = found->second;
    cta.acquired_ = std::max(cta.acquired_, word.release);
    if (word.cta != cta.cta_) return;
    for (std::uint32_t left = word.warps; left != 0; left &= left - 1) {
        const auto other = static_cast<unsigned>(std::countr_zero(left));
        cta.join(warp, other);
        cta.known(warp, other) = std::max(cta.known(warp, other), word.release);
    }
}

}  // namespace lockstep::gpu::check
