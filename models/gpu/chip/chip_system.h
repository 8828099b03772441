// SPDX-License-Identifier: Apache-2.0
// The chips of one system: made together on one Simulation, joined by their links, and taken along
// together, for they share one clock.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/gpu/chip/chip.h"
#include "models/system/system.h"

namespace lockstep::gpu {

class ChipSystem {
  public:
    /// What a chip is made of; all outlive the system.
    struct Member {
        const config::Machine* machine = nullptr;
        const SmParameters* parameters = nullptr;
        DeviceOptions options;
        std::uint64_t region = 0;     ///< where its device's addresses begin
        std::function<void()> ended;  ///< called when a fault has ended all chips
    };
    /// Before the first chip is asked for; returns the chip's number.
    std::size_t add(Member member);

    /// It has no others beside it.
    bool is_alone() const { return members_.size() == 1; }

    /// Makes all of them where there are none yet.
    Chip& chip(std::size_t number);
    /// Null: it has not been made.
    Chip* find(std::size_t number) const { return chips_.empty() ? nullptr : chips_[number].get(); }
    /// None has a kernel.
    bool is_idle() const;
    engine::Time advance(engine::Time limit);
    /// After a fault: Tiles have stopped in the middle of a window.
    void clear();

    /// Of the chips' clock, which stands while all are idle: the system's time less it.
    std::int64_t ahead = 0;
    /// While all are idle.
    void set_ahead(std::int64_t time);

  private:
    void make();
    PeerParameters peers_of(std::size_t number) const;

    std::vector<Member> members_;
    std::vector<PeerParameters> peers_;
    std::unique_ptr<system::System> system_;
    std::vector<std::unique_ptr<Chip>> chips_;
};

}  // namespace lockstep::gpu
