// SPDX-License-Identifier: Apache-2.0
// A form of trace files.
#pragma once

#include <string_view>

#include "sim/trace/trace.h"

namespace lockstep::trace {

class Writer {
  public:
    virtual ~Writer() = default;
    virtual bool shows_tracks() const = 0;
    /// Whether tracks are variables over time, of which a model may show many.
    virtual bool shows_waves() const { return false; }
    virtual void add_track(TrackId id, std::string_view group, std::string_view name,
                           TrackKind kind) = 0;
    virtual void add_name(NameId id, std::string_view text) = 0;
    virtual void write(const Event& event) = 0;
    /// No event before this cycle will come any more.
    virtual void advance(Cycle horizon) = 0;
    /// Leaves a file that a viewer can read; more events may follow.
    virtual void complete() = 0;
};

}  // namespace lockstep::trace
