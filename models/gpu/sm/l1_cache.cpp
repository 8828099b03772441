// SPDX-License-Identifier: Apache-2.0
// The L1 data cache of an SM: 128-byte lines of four 32-byte sectors, each valid by itself; few
// sets of very many ways, as measured on Volta (four sets; Jia et al. 2018, who found that its
// replacement is not LRU). Data are not held, only tags. The order of age is a list,
// for there may be hundreds of ways; of the lines alone that are to leave first where the
// replacement does not ask for age.
#include "models/gpu/sm/l1_cache.h"

#include <algorithm>

namespace lockstep::gpu {

L1Cache::L1Cache(std::uint32_t lines, std::uint32_t sets, ReplacementPolicy replacement,
                 bool is_ideal)
    : is_ideal_(is_ideal),
      replacement_(replacement, sets, std::max(1u, lines / sets)),
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
    if (is_ideal_) return kAllSectors;
    const std::uint32_t way = find(line);
    if (way == kNone) return 0;
    Set& set = set_of(line);
    replacement_.use(number_of(set), way % ways_);
    if (replacement_.use_renews() && set.newest != way) {
        unlink(set, way);
        link_newest(set, way);
    }
    return all_[way].sectors;
}

namespace {

/// A full set, all of whose lines may leave.
struct FullSet {
    std::uint32_t ways, oldest_way;
    std::uint32_t oldest() const { return oldest_way; }
    std::uint32_t count() const { return ways; }
    std::uint32_t nth(std::uint32_t i) const { return i; }
    bool any(std::uint32_t first, std::uint32_t) const { return first < ways; }
};

}  // namespace

std::uint32_t L1Cache::victim(const Set& set) {
    if (set.oldest != kNone && all_[set.oldest].leaves_first) return set.oldest;
    const std::uint32_t number = number_of(set), first = number * ways_;
    return first + replacement_.victim(number, FullSet{ways_, set.oldest - first});
}

void L1Cache::fill(std::uint64_t line, std::uint8_t sectors, EvictionPriority priority) {
    if (is_ideal_) return;
    std::uint32_t way = find(line);
    if (way != kNone) {
        all_[way].sectors |= sectors;
        return;
    }
    if (ways_ == 0 || priority == EvictionPriority::kNoAllocate) return;
    Set& set = set_of(line);
    if (set.used < ways_) {
        way = number_of(set) * ways_ + set.used++;
    } else {
        way = victim(set);
        table_.erase(all_[way].line, way);
        if (is_listed(all_[way])) unlink(set, way);
    }
    all_[way].line = line;
    all_[way].sectors = sectors;
    all_[way].leaves_first = priority == EvictionPriority::kFirst;
    if (priority == EvictionPriority::kFirst) {
        link_oldest(set, way);
    } else if (is_listed(all_[way])) {
        link_newest(set, way);
    }
    replacement_.use(number_of(set), way % ways_);
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
    replacement_.clear();
    is_empty_ = true;
}

}  // namespace lockstep::gpu
