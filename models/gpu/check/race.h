// SPDX-License-Identifier: Apache-2.0
// Accesses of one place by two threads, at least one a write, that nothing orders.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "models/gpu/check/clock.h"
#include "models/gpu/check/observed.h"
#include "models/gpu/check/paged.h"
#include "models/gpu/check/record.h"

namespace lockstep::gpu::check {

enum class RaceKind : std::uint8_t { kReadAfterWrite, kWriteAfterRead, kWriteAfterWrite };

struct Race {
    RaceKind kind = RaceKind::kReadAfterWrite;
    sass::Space space = sass::Space::kShared;
    Record earlier, later;
    std::uint64_t address = 0;
    unsigned bytes = 0;
};

/// What is remembered of a place: the last write, and two reads since, by different threads if
/// there were several.
struct Cell {
    Record write, first, last;
    std::uint32_t instruction = 0;  ///< number of the one that wrote
};

/// The cells of kBytes bytes of memory. They are as wide as the narrowest access of those bytes so
/// far: vectors of 16 bytes, words, or bytes.
class Shadow {
  public:
    static constexpr unsigned kBytes = 1024;
    static constexpr unsigned kVector = 16, kWord = 4;

    /// Bytes that one cell stands for.
    unsigned granule() const { return granule_; }
    Cell& cell(unsigned offset) { return cells_[offset / granule_]; }
    /// What was last written from `offset` on: a word an element, or a byte where cells are bytes.
    std::uint32_t* values(unsigned offset) { return &values_[offset / value_bytes()]; }
    unsigned value_bytes() const { return granule_ < kWord ? granule_ : kWord; }
    /// Makes cells that an access of `width` bytes, aligned to it, covers whole.
    void fit(unsigned width) {
        if (width < granule_) [[unlikely]]
            split(width < kWord ? 1 : kWord);
    }
    /// Forgets everything that is older than `generation`.
    void renew(std::uint64_t generation) {
        if (generation_ != generation) [[unlikely]]
            clear(generation);
    }

  private:
    void split(unsigned granule);
    void clear(std::uint64_t generation);

    std::vector<Cell> cells_;
    std::vector<std::uint32_t> values_;
    unsigned granule_ = kVector;
    std::uint64_t generation_ = 0;
};

class RaceCheck {
  public:
    using Report = std::function<void(const Race&)>;

    RaceCheck(Clock& clock, Report report) : clock_(clock), report_(std::move(report)) {}

    void begin_launch() { ++generation_; }
    /// Of a CTA's shared memory; the generation is the CTA's own.
    struct Shared {
        std::vector<Shadow> pages;
        std::uint64_t generation = 0;
    };

    void access(const Observed& access, CtaClock& cta, Shared& shared);
    /// Forgets the accesses of a range of global memory so far.
    void forget(std::uint64_t begin, std::uint64_t bytes);

  private:
    struct Me;
    static bool may_race(const Me& me, const Record& earlier);
    bool races(const Me& me, const Record& earlier) const;
    void touch(Shadow& shadow, const Me& me, unsigned offset);
    void read(Cell& cell, const Me& me, unsigned offset, unsigned bytes);
    void write(Cell& cell, const Me& me, unsigned offset, unsigned bytes, bool same_value);
    void report(const Me& me, RaceKind kind, const Record& earlier, unsigned offset,
                unsigned bytes);

    Clock& clock_;
    Report report_;
    std::uint64_t generation_ = 0;
    std::uint32_t instruction_ = 0;
    Paged<Shadow, Shadow::kBytes> global_;
};

}  // namespace lockstep::gpu::check
