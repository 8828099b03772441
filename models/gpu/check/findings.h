// SPDX-License-Identifier: Apache-2.0
// What the checks have found in a launch, and its report.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "models/gpu/check/init.h"
#include "models/gpu/check/race.h"
#include "models/gpu/check/sync.h"
#include "models/memory/global_memory.h"

namespace lockstep::gpu::check {

/// "file.cu:12" of the instruction at a code index, or "".
using SourceLine = std::function<std::string(std::uint32_t)>;

/// The same pair of instructions doing the same wrong thing is one finding, with a count.
class Findings {
  public:
    explicit Findings(const memory::DeviceMemory& memory) : memory_(memory) {}

    void begin_launch(const sass::Launch& launch, SourceLine source_line);
    void add(const Race& race);
    void add(const UnwrittenRead& read, const sass::Warp& warp);
    void add(const Misuse& misuse, const sass::Cta& cta);

    /// The report on this launch; "" where nothing was found.
    std::string report() const;
    std::uint64_t size() const { return found_.size(); }

  private:
    struct Finding {
        std::string text;
        std::uint64_t count = 0;
        std::uint64_t order = 0;
    };
    /// What it is, in a few words, and the code indices of both instructions.
    using Key = std::tuple<std::string, std::uint32_t, std::uint32_t>;

    /// The finding, counted once more; new ones have no text yet.
    Finding& count(std::string what, std::uint32_t pc, std::uint32_t other_pc);
    std::string place(sass::Space space, std::uint64_t address, unsigned bytes) const;
    std::string thread(const char* what, std::uint64_t cta, std::uint32_t thread,
                       std::uint32_t pc) const;

    const memory::DeviceMemory& memory_;
    const sass::Launch* launch_ = nullptr;
    SourceLine source_line_;
    std::map<Key, Finding> found_;
};

}  // namespace lockstep::gpu::check
