// SPDX-License-Identifier: Apache-2.0
// The L1 data cache of an SM: 128-byte lines of four 32-byte sectors, each valid by itself; few
// sets of very many ways, as measured on Volta (four sets; Jia et al. 2018, who found that its
// replacement is not LRU). Data are not held, only tags. The order of use is kept for LRU and for
// lines that are to leave first; random replacement needs no order among hundreds of ways.
#include "models/gpu/sm/l1_cache.h"

namespace lockstep::gpu {

L1Cache::L1Cache(std::uint32_t lines, std::uint32_t sets, L1Replacement replacement)
    : replacement_(replacement),
      ways_(lines / sets),
      sets_(sets),
      all_(std::uint64_t{ways_} * sets),
      table_(ways_ * sets) {}

void L1Cache::unlink(Set& set, std::uint32_t way) {
    const Way& w = all_[way];
    (w.newer == kNone ? set.newest : all_[w.newer].older) = w.older;
    (w.older == kNone ? set.oldest : all_[w.older].newer) = w.newer;
}

void L1Cache::link_newest(Set& set, std::uint32_t way) {
    all_[way].newer = kNone;
    all_[way].older = set.newest;
    (set.newest == kNone ? set.oldest : all_[set.newest].newer) = way;
    set.newest = way;
}

void L1Cache::link_oldest(Set& set, std::uint32_t way) {
    all_[way].older = kNone;
    all_[way].newer = set.oldest;
    (set.oldest == kNone ? set.newest : all_[set.oldest].older) = way;
    set.oldest = way;
}

std::uint8_t L1Cache::look_up(std::uint64_t line) {
    const std::uint32_t way = find(line);
    if (way == kNone) return 0;
    if (replacement_ == L1Replacement::kRandom) return all_[way].sectors;
    Set& set = set_of(line);
    if (set.newest != way) {
        unlink(set, way);
        link_newest(set, way);
    }
    return all_[way].sectors;
}

std::uint32_t L1Cache::victim(const Set& set) {
    if (replacement_ == L1Replacement::kLru || all_[set.oldest].leaves_first) return set.oldest;
    random_ ^= random_ << 13;  // xorshift64 (Marsaglia, 2003)
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<std::uint32_t>(&set - sets_.data()) * ways_ +
           static_cast<std::uint32_t>((random_ >> 32) * ways_ >> 32);
}

void L1Cache::fill(std::uint64_t line, std::uint8_t sectors, EvictionPriority priority) {
    std::uint32_t way = find(line);
    if (way != kNone) {
        all_[way].sectors |= sectors;
        return;
    }
    if (ways_ == 0 || priority == EvictionPriority::kNoAllocate) return;
    Set& set = set_of(line);
    if (set.used < ways_) {
        way = static_cast<std::uint32_t>(&set - sets_.data()) * ways_ + set.used++;
    } else {
        way = victim(set);
        table_.erase(way, [this](std::uint32_t w) { return all_[w].line; });
        unlink(set, way);
    }
    all_[way].line = line;
    all_[way].sectors = sectors;
    all_[way].leaves_first = priority == EvictionPriority::kFirst;
    if (priority == EvictionPriority::kFirst) {
        link_oldest(set, way);
    } else {
        link_newest(set, way);
    }
    table_.insert(line, way);
    is_empty_ = false;
}

void L1Cache::invalidate(std::uint64_t line, std::uint8_t sectors) {
    const std::uint32_t way = find(line);
    if (way != kNone) all_[way].sectors &= static_cast<std::uint8_t>(~sectors);
}

void L1Cache::clear() {
    if (is_empty_) return;
    for (Set& set : sets_) set = {};
    table_.clear();
    random_ = kSeed;
    is_empty_ = true;
}

}  // namespace lockstep::gpu
