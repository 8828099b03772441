// SPDX-License-Identifier: Apache-2.0
// A first-in first-out queue in one growing array, whose begin is used again whenever it is empty:
// the host's cache has that.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace lockstep::gpu {

template <typename T>
class Ring {
  public:
    bool empty() const { return begin_ == end_; }
    std::size_t size() const { return end_ - begin_; }
    T& front() { return at(begin_); }
    const T& front() const { return values_[begin_ & mask()]; }

    void push(T value) {
        if (size() == values_.size()) grow();
        at(end_++) = std::move(value);
    }

    /// Behind all elements that do not come after it; short where values come nearly in order.
    template <typename Before>
    void push_sorted(T value, Before before) {
        push(std::move(value));
        for (std::size_t i = end_ - 1; i != begin_ && before(at(i), at(i - 1)); --i)
            std::swap(at(i), at(i - 1));
    }

    void pop() {
        if (++begin_ == end_) begin_ = end_ = 0;
    }

    template <typename Visit>
    void for_each(Visit visit) {
        for (std::size_t i = begin_; i != end_; ++i) visit(at(i));
    }

  private:
    std::size_t mask() const { return values_.size() - 1; }
    T& at(std::size_t i) { return values_[i & mask()]; }

    void grow() {
        std::vector<T> larger(values_.empty() ? 16 : 2 * values_.size());
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i) larger[i] = std::move(at(begin_ + i));
        values_ = std::move(larger);
        begin_ = 0;
        end_ = count;
    }

    std::vector<T> values_;  // a power of two
    std::size_t begin_ = 0, end_ = 0;
};

}  // namespace lockstep::gpu
