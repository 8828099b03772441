// SPDX-License-Identifier: Apache-2.0
// Traces: what happened when, on named tracks, for a viewer. Knows no machine: a model names its
// tracks and records events; the file's ending chooses the form. Where a run is not traced, models
// hold a null Recorder pointer and that is all it costs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lockstep::trace {

using Cycle = std::uint64_t;
inline constexpr Cycle kForever = ~Cycle{0};

enum class TrackId : std::uint32_t {};
enum class NameId : std::uint32_t {};

/// What a track shows: slices and values that have names, or numbers.
enum class TrackKind : std::uint8_t { kText, kReal, kInteger };

/// An instruction on its way through a pipeline; 0: not recorded.
using InstructionId = std::uint64_t;

/// What an event is called: a name, and a number behind it where there is one ("CTA 17").
struct Label {
    static constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};
    NameId name{};
    std::uint64_t number = kNoNumber;
    bool operator==(const Label&) const = default;
};

/// Cycles [from, until) are recorded.
struct Window {
    Cycle from = 0, until = kForever;
    bool contains(Cycle cycle) const { return cycle >= from && cycle < until; }
};

enum class EventKind : std::uint8_t {
    kSlice,
    kInstant,
    kCounter,
    kValue,
    kInstruction,
    kStage,
    kRetire
};

/// One record between a Recorder and the file.
struct Event {
    EventKind kind;
    Cycle at = 0, end = 0;
    TrackId track{};
    Label label;
    double value = 0;             ///< counters
    InstructionId instruction{};  ///< instructions and their stages
    std::uint32_t thread = 0;     ///< of an instruction
};

/// Where one Tile records; it may run beside others. Cycles may lie ahead of the current one.
class Recorder {
  public:
    Recorder(std::uint32_t index, const Window& window) : index_(index), window_(window) {}

    /// From now on cycles are those of a clock that is so many behind the trace's.
    void shift(std::int64_t cycles) { shift_ = static_cast<Cycle>(cycles); }

    /// Something that took from `from` to `until`. Slices of a track may nest, but not overlap.
    void slice(TrackId track, Label label, Cycle from, Cycle until);
    /// The same in two calls. An end without a beginning is ignored.
    void begin(TrackId track, Label label, Cycle at) { open_[track].push_back({label, at}); }
    void end(TrackId track, Cycle at);
    void instant(TrackId track, Label label, Cycle at) {
        at += shift_;
        if (window_.contains(at))
            events_.push_back(
                {.kind = EventKind::kInstant, .at = at, .track = track, .label = label});
    }
    /// The track's value from now on; not a number: it has none.
    void counter(TrackId track, double value, Cycle at) {
        at += shift_;
        if (window_.contains(at))
            events_.push_back(
                {.kind = EventKind::kCounter, .at = at, .track = track, .value = value});
    }

    /// The name of what the track shows from now on; for waves.
    void value(TrackId track, Label label, Cycle at) {
        at += shift_;
        if (window_.contains(at))
            events_.push_back(
                {.kind = EventKind::kValue, .at = at, .track = track, .label = label});
    }

    /// An instruction of a thread enters a pipeline, enters its next stage, leaves. Instructions
    /// that enter outside of the window get the id 0, with which the other two do nothing.
    InstructionId instruction(Label label, std::uint32_t thread, Cycle at);
    void stage(InstructionId id, NameId name, Cycle at) {
        if (id != 0)
            events_.push_back(
                {.kind = EventKind::kStage, .at = at + shift_, .label = {name}, .instruction = id});
    }
    void retire(InstructionId id, Cycle at) {
        if (id != 0)
            events_.push_back({.kind = EventKind::kRetire, .at = at + shift_, .instruction = id});
    }

  private:
    friend class Trace;
    struct Open {
        Label label;
        Cycle at;
    };
    const std::uint32_t index_;
    const Window window_;
    Cycle shift_ = 0;
    std::uint64_t instructions_ = 0;
    std::vector<Event> events_;
    std::unordered_map<TrackId, std::vector<Open>> open_;
};

class Writer;

/// A trace's file. Tracks, names and recorders are made, and recorders drained, while no Tile runs.
class Trace {
  public:
    /// By the file's ending: .json (Chrome's trace events, for Perfetto; one microsecond there is
    /// one cycle), .vcd (waveforms; one nanosecond is one cycle) or .kanata (Konata). Throws
    /// InputError where it is another or cannot be written.
    Trace(const std::string& path, const Window& window, const std::string& title);
    /// In a form of the caller's.
    Trace(std::unique_ptr<Writer> writer, const Window& window);
    ~Trace();

    const Window& window() const { return window_; }
    /// A file shows either tracks (.json, .vcd) or instructions (.kanata); the other is ignored.
    bool shows_tracks() const;
    /// Tracks are variables over time (.vcd): groups are scopes, with dots between them.
    bool shows_waves() const;
    bool shows_instructions() const { return !shows_tracks(); }

    /// A row of the viewer; rows of a group stand together.
    TrackId track(std::string_view group, std::string_view name, TrackKind kind = TrackKind::kText);
    NameId name(std::string_view text);
    /// Lives as long as the trace.
    Recorder& recorder();

    /// Writes what was recorded. Nothing before `horizon` will be recorded any more.
    void drain(Cycle horizon);
    /// Drains everything and makes the file complete as it is; more may follow.
    void complete();

  private:
    const Window window_;
    std::unique_ptr<Writer> writer_;
    std::vector<std::unique_ptr<Recorder>> recorders_;
    std::unordered_map<std::string, NameId> names_;
    std::unordered_map<std::string, TrackId> tracks_;
};

}  // namespace lockstep::trace
