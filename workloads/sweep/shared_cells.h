// SPDX-License-Identifier: Apache-2.0
// Numbers that points' processes write and their parent reads.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "sim/error/error.h"

namespace lockstep::sweep {

class SharedCells {
  public:
    using Cell = std::atomic<std::uint64_t>;
    static_assert(Cell::is_always_lock_free);

    /// 0 cells: none are ever taken.
    explicit SharedCells(std::size_t count) : places_(count, kFree) {
        if (count == 0) return;
        void* const memory = mmap(nullptr, count * sizeof(Cell), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        LOCKSTEP_CHECK(memory != MAP_FAILED, "no memory for {} cells", count);
        cells_ = new (memory) Cell[count];
    }
    ~SharedCells() {
        if (cells_ != nullptr) munmap(cells_, places_.size() * sizeof(Cell));
    }
    SharedCells(const SharedCells&) = delete;
    SharedCells& operator=(const SharedCells&) = delete;

    /// A cell at 0 for the process of a point; nullptr where there are none.
    Cell* take(std::size_t place) {
        if (cells_ == nullptr) return nullptr;
        const auto free = std::ranges::find(places_, kFree);
        LOCKSTEP_CHECK(free != places_.end(), "more processes than cells");
        *free = place;
        Cell& cell = cells_[free - places_.begin()];
        cell.store(0, std::memory_order_relaxed);
        return &cell;
    }
    void give_back(std::size_t place) { std::ranges::replace(places_, place, kFree); }
    /// Of the points that have a cell.
    std::vector<std::pair<std::size_t, std::uint64_t>> values() const {
        std::vector<std::pair<std::size_t, std::uint64_t>> values;
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (places_[i] != kFree)
                values.emplace_back(places_[i], cells_[i].load(std::memory_order_relaxed));
        return values;
    }

  private:
    static constexpr std::size_t kFree = ~std::size_t{0};
    std::vector<std::size_t> places_;
    Cell* cells_ = nullptr;
};

}  // namespace lockstep::sweep
