// SPDX-License-Identifier: Apache-2.0
// A trace as SystemC signals, for those who simulate a chip in a SystemC program: sc_find_object,
// sc_trace, sensitivity.
#pragma once

#include <optional>
#include <vector>

#include "sim/engine/simulation.h"
#include "sim/trace/wave_writer.h"

namespace lockstep::gpu {

/// A track is the signal GROUP.NAME, spaces as underscores: an integer's value (all ones: none), a
/// text's number (0: none; names are numbered from 1 in the order in which the model made them).
/// Reals, and tracks that are made after the first run, have none. A trace's cycles are `clock`'s.
class SignalWriter final : public trace::WaveWriter {
  public:
    SignalWriter(engine::Simulation& simulation, engine::ClockDomain clock)
        : simulation_(simulation), clock_(clock) {}

    void add_track(trace::TrackId id, std::string_view group, std::string_view name,
                   trace::TrackKind kind) override;
    void advance(trace::Cycle horizon) override;
    void complete() override {}

  private:
    void change(trace::Cycle at, std::size_t variable, const trace::WaveValue& value) override;

    engine::Simulation& simulation_;
    const engine::ClockDomain clock_;
    std::vector<std::optional<engine::SignalId>> signals_;  ///< by track
    bool has_begun_ = false;
};

}  // namespace lockstep::gpu
