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

/// What is remembered of a word, or of a byte where bytes are accessed by themselves: the last
/// write, and two reads since, by different threads if there were several.
struct Cell {
    Record write, first, last;
    std::uint32_t value = 0;        ///< that was written
    std::uint32_t instruction = 0;  ///< number of the one that wrote
};

/// The cells of kBytes bytes of memory.
class Shadow {
  public:
    static constexpr unsigned kBytes = 1024;
    static constexpr unsigned kWord = 4;

    /// Bytes that one cell stands for.
    unsigned granule() const { return granule_; }
    Cell& cell(unsigned offset) { return cells_[offset / granule_]; }
    /// From here on each byte has a cell of its own.
    void split();
    /// Forgets everything that is older than `generation`.
    void renew(std::uint64_t generation);

  private:
    std::vector<Cell> cells_;
    unsigned granule_ = kWord;
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

  private:
    struct Me;
    void touch(Cell& cell, const Me& me, unsigned offset, unsigned bytes);
    void report(const Me& me, RaceKind kind, const Record& earlier, unsigned offset,
                unsigned bytes);

    Clock& clock_;
    Report report_;
    std::uint64_t generation_ = 0;
    std::uint32_t instruction_ = 0;
    Paged<Shadow, Shadow::kBytes> global_;
};

}  // namespace lockstep::gpu::check
