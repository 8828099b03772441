// SPDX-License-Identifier: Apache-2.0
// Each Tile records into its own buffer, so that Tiles on several threads need no lock; buffers are
// written one after the other, in the order in which they were made, whenever a window of the
// simulation has ended. A trace is therefore the same for any number of threads, and the memory it
// takes is that of one window.
#include "sim/trace/trace.h"

#include <algorithm>

#include "sim/error/error.h"
#include "sim/trace/chrome_writer.h"
#include "sim/trace/kanata_writer.h"
#include "sim/trace/vcd_writer.h"

namespace lockstep::trace {
namespace {

constexpr unsigned kRecorderShift = 44;  ///< bits of an InstructionId for the number in a recorder

std::unique_ptr<Writer> make_writer(const std::string& path, const std::string& title) {
    if (path.ends_with(".json")) return std::make_unique<ChromeWriter>(path, title);
    if (path.ends_with(".kanata")) return std::make_unique<KanataWriter>(path);
    if (path.ends_with(".vcd")) return std::make_unique<VcdWriter>(path, title);
    throw InputError(fmt::format("{}: a trace ends in .json, .vcd or .kanata", path));
}

}  // namespace

void Recorder::slice(TrackId track, Label label, Cycle from, Cycle until) {
    from = std::max(from + shift_, window_.from);
    until = std::min(until + shift_, window_.until);
    if (from >= until) return;
    events_.push_back(
        {.kind = EventKind::kSlice, .at = from, .end = until, .track = track, .label = label});
}

void Recorder::end(TrackId track, Cycle at) {
    const auto open = open_.find(track);
    if (open == open_.end() || open->second.empty()) return;
    const Open last = open->second.back();
    open->second.pop_back();
    slice(track, last.label, last.at, at);
}

InstructionId Recorder::instruction(Label label, std::uint32_t thread, Cycle at) {
    at += shift_;
    if (!window_.contains(at)) return 0;
    const InstructionId id = (std::uint64_t{index_} << kRecorderShift) + ++instructions_;
    events_.push_back({.kind = EventKind::kInstruction,
                       .at = at,
                       .label = label,
                       .instruction = id,
                       .thread = thread});
    return id;
}

Trace::Trace(const std::string& path, const Window& window, const std::string& title)
    : window_(window), writer_(make_writer(path, title)) {}

Trace::Trace(std::unique_ptr<Writer> writer, const Window& window)
    : window_(window), writer_(std::move(writer)) {}

Trace::~Trace() {
    try {
        complete();
    } catch (const std::exception&) {
        // Nobody is left to hear of it; complete() has said so before.
    }
}

bool Trace::shows_tracks() const {
    return writer_->shows_tracks();
}

bool Trace::shows_waves() const {
    return writer_->shows_waves();
}

TrackId Trace::track(std::string_view group, std::string_view name, TrackKind kind) {
    const auto id = static_cast<TrackId>(tracks_.size());
    const auto [known, is_new] = tracks_.try_emplace(fmt::format("{}\n{}", group, name), id);
    if (is_new) writer_->add_track(id, group, name, kind);
    return known->second;
}

NameId Trace::name(std::string_view text) {
    const auto id = static_cast<NameId>(names_.size());
    const auto [known, is_new] = names_.try_emplace(std::string(text), id);
    if (is_new) writer_->add_name(id, text);
    return known->second;
}

Recorder& Trace::recorder() {
    const auto index = static_cast<std::uint32_t>(recorders_.size());
    return *recorders_.emplace_back(std::make_unique<Recorder>(index, window_));
}

void Trace::drain(Cycle horizon) {
    for (const std::unique_ptr<Recorder>& recorder : recorders_) {
        for (const Event& event : recorder->events_) writer_->write(event);
        recorder->events_.clear();
    }
    writer_->advance(horizon);
}

void Trace::complete() {
    drain(kForever);
    writer_->complete();
}

}  // namespace lockstep::trace
