// SPDX-License-Identifier: Apache-2.0
// Reads of memory that nobody has written.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <vector>

#include "models/gpu/check/observed.h"
#include "models/gpu/check/paged.h"

namespace lockstep::gpu::check {

struct UnwrittenRead {
    std::uint32_t pc = 0;
    unsigned lane = 0;
    sass::Space space = sass::Space::kGlobal;
    std::uint64_t address = 0;
    unsigned bytes = 0;
};

/// Bytes that have been written, a bit each, 64 in a word.
using WrittenWord = std::uint64_t;

/// Which bytes of a CTA's shared memory and of its threads' local memory have been written.
struct CtaWritten {
    std::vector<WrittenWord> shared;
    std::vector<std::vector<std::uint32_t>> local;  ///< [warp][offset]: lanes
};

class InitCheck {
  public:
    using Report = std::function<void(const UnwrittenRead&)>;

    explicit InitCheck(Report report) : report_(std::move(report)) {}

    /// Device memory that begins unwritten. All other memory counts as written.
    void allocated(std::uint64_t begin, std::uint64_t bytes);
    void freed(std::uint64_t begin);
    void host_wrote(std::uint64_t begin, std::uint64_t bytes);

    /// The first `reserved` bytes of shared memory and all from `end` on are the system's.
    static CtaWritten unwritten_cta(const sass::Cta& cta, std::uint32_t reserved,
                                    std::uint32_t end);

    void access(const Observed& access, CtaWritten& cta);

  private:
    static constexpr std::uint64_t kPageBytes = 4096;
    struct Page {
        std::array<WrittenWord, kPageBytes / 64> written{};
    };
    /// Of the bytes of an access, as bits: those that count as written; marks them all if asked to.
    std::uint32_t global(std::uint64_t address, unsigned bytes, bool is_write);
    static std::uint32_t shared(CtaWritten& cta, std::uint64_t offset, unsigned bytes,
                                bool is_write);
    static std::uint32_t local(std::vector<std::uint32_t>& written, unsigned lane,
                               std::uint64_t offset, unsigned bytes, bool is_write);

    Report report_;
    std::map<std::uint64_t, std::uint64_t> tracked_;  ///< allocations: begin -> end
    std::uint64_t begin_ = 0, end_ = 0;               ///< the one that was looked up last
    Paged<Page, kPageBytes> pages_;
};

}  // namespace lockstep::gpu::check
