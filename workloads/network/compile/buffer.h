// SPDX-License-Identifier: Apache-2.0
// How a compiler hands out a buffer on the chip: a heap for values that stay, and a ring for what
// passes through. A ring gives double buffering by itself: a tile is written while the one before
// it is still in use, and the waits of the program keep it from being overwritten too early.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/numerics/integer.h"

namespace lockstep::network::compile {

/// Bytes as a multiple of 256, on which every range begins.
inline std::uint64_t aligned(std::uint64_t bytes) {
    return numerics::round_up(bytes, 256u);
}

/// First fit. A range is free again when the last copy of its owner is gone; the heap must outlive
/// them.
class Heap {
  public:
    Heap(std::uint64_t begin, std::uint64_t size);
    /// Null where there is no room.
    std::shared_ptr<void> allocate(std::uint64_t bytes, std::uint64_t& address);
    std::uint64_t most_used() const { return most_used_; }
    /// The end of the last range in use.
    std::uint64_t top() const;

  private:
    void release(std::uint64_t address, std::uint64_t bytes);

    const std::uint64_t begin_, end_;
    std::map<std::uint64_t, std::uint64_t> free_;  ///< bytes by address
    std::uint64_t used_ = 0, most_used_ = 0;
};

class Ring {
  public:
    /// `name`: what messages call the buffer.
    Ring(std::string name, std::uint64_t begin, std::uint64_t size)
        : name_(std::move(name)), begin_(begin), size_(size), head_(begin) {}

    std::uint64_t size() const { return size_; }
    /// What is left beside the pinned range.
    std::uint64_t room() const { return size_ - pinned_.bytes(); }
    /// The next `bytes`; earlier ranges come round again: what is in use at the same time, with
    /// once more the largest piece of it (which may not fit before the end), must not exceed
    /// room(). Refusal where they do not fit.
    std::uint64_t allocate(std::uint64_t bytes);
    /// A range that is not overwritten until the next pin() or release(): at the ring's lower and
    /// upper end in turn, so that the rest is whole. The one before it, which may still be in use,
    /// is left alone where the two have no more than half of the ring.
    std::uint64_t pin(std::uint64_t bytes);
    /// Such a range where the next allocate() would have been, so that earlier ones may still be in
    /// use. It divides the rest: for what is small.
    std::uint64_t pin_next(std::uint64_t bytes);
    void release() {
        if (pinned_.bytes() != 0) before_ = pinned_;
        pinned_ = {};
    }
    /// Of the range that was handed out last.
    std::uint64_t serial() const { return overwritten_.size() - 1; }
    /// Whether nothing was handed out over the range since; always of serial 0.
    bool holds(std::uint64_t serial) const { return !overwritten_.at(serial); }
    /// Moves the lower end; nothing may be pinned.
    void set_begin(std::uint64_t begin);

  private:
    std::string name_;
    std::uint64_t begin_, size_;
    struct Pinned {
        std::uint64_t begin = 0, end = 0;
        std::uint64_t bytes() const { return end - begin; }
        /// Whether they share an address.
        bool meets(std::uint64_t first, std::uint64_t last) const {
            return first < end && last > begin;
        }
    };
    std::uint64_t head_;
    Pinned pinned_, before_;  ///< before_: what was pinned before
    bool pins_high_ = false;

    /// Where the next range is that meets neither; nothing where there is no room.
    std::optional<std::uint64_t> next(std::uint64_t bytes, const Pinned& a, const Pinned& b) const;
    void hand_out(std::uint64_t begin, std::uint64_t end);

    struct Range {
        std::uint64_t end, serial;
    };
    std::map<std::uint64_t, Range> ranges_;  ///< by begin, those not overwritten
    std::vector<bool> overwritten_ = {false};
};

}  // namespace lockstep::network::compile
