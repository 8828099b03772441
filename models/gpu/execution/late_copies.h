// SPDX-License-Identifier: Apache-2.0
// The asynchronous copies of one emulated CTA, performed as late as programs that wait for them
// allow: loads when a thread asks for the phase of their mbarrier, stores when a thread waits for
// their group. A program that reads a tile or reuses its memory too early computes with what is
// there, and fails, where performing copies at once would hide it.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/sass/async_engine.h"
#include "isa/sass/tma/copy.h"

namespace lockstep::gpu {

class LateCopies final : public sass::AsyncEngine {
  public:
    void start(const sass::AsyncCopy& copy) override;
    void commit(sass::Warp& warp, unsigned counter) override;
    void wait(sass::Warp& warp, unsigned counter, unsigned limit) override;
    bool settle(sass::Cta& cta, std::uint32_t mbarrier) override;
    /// What nobody waited for is performed, stores first.
    void end_cta() override;

    /// To shared memory of the CTA, and from it, that have not been performed.
    const std::vector<sass::AsyncCopy>& loads() const { return loads_; }
    template <typename F>
    void for_each_store(F&& f) const {
        for (const Group& group : groups_)
            for (const sass::AsyncCopy& copy : group.copies) f(copy);
        for (const sass::AsyncCopy& copy : open_) f(copy);
    }

  private:
    struct Group {
        std::uint32_t warp = 0;
        unsigned counter = 0;
        std::vector<sass::AsyncCopy> copies;
    };
    void perform(const sass::AsyncCopy& copy);
    void perform(const Group& group);

    std::vector<sass::AsyncCopy> loads_, open_;  ///< open: stores of no group yet
    std::vector<Group> groups_;
};

}  // namespace lockstep::gpu
