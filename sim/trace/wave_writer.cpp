// SPDX-License-Identifier: Apache-2.0
// Tiles record one after another, and often ahead of time: changes wait until nothing earlier can
// come. What comes too late all the same stands at the time that has been reached.
#include "sim/trace/wave_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::trace {

void WaveWriter::add_track(TrackId, std::string_view group, std::string_view name, TrackKind kind) {
    variables_.push_back({std::string(group), std::string(name), kind});
}

void WaveWriter::add_name(NameId, std::string_view text) {
    names_.emplace_back(text);
}

std::string WaveWriter::text_of(const Label& label) const {
    const std::string& name = names_[static_cast<std::size_t>(label.name)];
    return label.number == Label::kNoNumber ? name : fmt::format("{} {}", name, label.number);
}

void WaveWriter::add(Cycle at, Act act, TrackId track, const WaveValue& value) {
    waiting_.push({at, act, arrivals_++, static_cast<std::size_t>(track), value});
}

void WaveWriter::write(const Event& event) {
    const WaveValue text{WaveValue::Kind::kText, event.label};
    switch (event.kind) {
        case EventKind::kSlice:
            add(event.at, Act::kBegin, event.track, text);
            return add(event.end, Act::kEnd, event.track, {});
        case EventKind::kInstant:
            add(event.at, Act::kBegin, event.track, text);
            return add(event.at + 1, Act::kEnd, event.track, {});
        case EventKind::kValue:
            return add(event.at, Act::kSet, event.track, text);
        case EventKind::kCounter:
            return add(event.at, Act::kSet, event.track,
                       std::isnan(event.value)
                           ? WaveValue{}
                           : WaveValue{WaveValue::Kind::kNumber, {}, event.value});
        default:
            return;  // stages of instructions
    }
}

void WaveWriter::apply(const Change& change) {
    Variable& variable = variables_[change.variable];
    switch (change.act) {
        case Act::kBegin:
            variable.open.push_back(change.value.label);
            variable.value = change.value;
            break;
        case Act::kEnd:
            if (!variable.open.empty()) variable.open.pop_back();
            variable.value = variable.open.empty()
                                 ? WaveValue{}
                                 : WaveValue{WaveValue::Kind::kText, variable.open.back()};
            break;
        case Act::kSet:
            variable.value = change.value;
            break;
    }
    if (variable.is_touched) return;
    variable.is_touched = true;
    touched_.push_back(change.variable);
}

void WaveWriter::show() {
    std::sort(touched_.begin(), touched_.end());
    for (const std::size_t index : touched_) {
        Variable& variable = variables_[index];
        variable.is_touched = false;
        if (variable.value == variable.shown) continue;
        variable.shown = variable.value;
        change(now_, index, variable.value);
    }
    touched_.clear();
}

void WaveWriter::advance(Cycle horizon) {
    while (!waiting_.empty() && waiting_.top().at < horizon) {
        const Change next = waiting_.top();
        waiting_.pop();
        if (next.at > now_) {
            show();
            now_ = next.at;
        }
        apply(next);
    }
    show();
}

}  // namespace lockstep::trace
