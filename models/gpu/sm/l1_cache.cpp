// SPDX-License-Identifier: Apache-2.0
// The L1 data cache of an SM: 128-byte lines of four 32-byte sectors, each valid by itself; few
// sets of very many ways, as measured on Volta (four sets; Jia et al. 2018). Its replacement is
// known not to be LRU but not what it is: LRU here. Data are not held, only tags.
#include "models/gpu/sm/l1_cache.h"

namespace lockstep::gpu {

L1Cache::L1Cache(std::uint32_t lines, std::uint32_t sets)
    : ways_(lines / sets), sets_(sets), all_(std::uint64_t{ways_} * sets), table_(ways_ * sets) {}

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
    Set& set = set_of(line);
    if (set.newest != way) {
        unlink(set, way);
        link_newest(set, way);
    }
    return all_[way].sectors;
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
        way = set.oldest;
        table_.erase(way, [this](std::uint32_t w) { return all_[w].line; });
        unlink(set, way);
    }
    all_[way].line = line;
    all_[way].sectors = sectors;
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
    is_empty_ = true;
}

}  // namespace lockstep::gpu
