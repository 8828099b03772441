// SPDX-License-Identifier: Apache-2.0
// A group of tracks is a "process", a track a "thread" of it; counters are told apart by process
// and name. Viewers know microseconds with three decimals only, too coarse for cycles: a cycle is
// written as one microsecond. Source: "Trace Event Format" (Google, 2016).
#include "sim/trace/chrome_writer.h"

namespace lockstep::trace {
namespace {

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (static_cast<unsigned char>(c) < ' ')
            result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            result += c;
    }
    return result;
}

}  // namespace

ChromeWriter::ChromeWriter(const std::string& path, const std::string& title) : file_(path) {
    file_.print(
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"title\":\"{}\",\"unit\":\"1 us is 1 "
        "cycle\"}},\"traceEvents\":[",
        escaped(title));
}

void ChromeWriter::next() {
    file_.print("{}", is_first_ ? "\n" : ",\n");
    is_first_ = false;
}

void ChromeWriter::add_track(TrackId, std::string_view group, std::string_view name, TrackKind) {
    const auto number = static_cast<unsigned>(processes_.size()) + 1;
    const auto [process, is_new] = processes_.try_emplace(std::string(group), number);
    if (is_new) {
        next();
        file_.print(
            "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":"
            "\"{}\"}}}}",
            number, escaped(group));
        next();
        file_.print(
            "{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"args\":"
            "{{\"sort_index\":{}}}}}",
            number, number);
    }
    const auto thread = static_cast<unsigned>(tracks_.size()) + 1;
    tracks_.push_back({process->second, thread, escaped(name)});
    next();
    file_.print(
        "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":"
        "\"{}\"}}}}",
        process->second, thread, tracks_.back().name);
    next();
    file_.print(
        "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},\"args\":"
        "{{\"sort_index\":{}}}}}",
        process->second, thread, thread);
}

void ChromeWriter::add_name(NameId, std::string_view text) {
    names_.push_back(escaped(text));
}

std::string ChromeWriter::text_of(const Label& label) const {
    const std::string& name = names_[static_cast<std::size_t>(label.name)];
    return label.number == Label::kNoNumber ? name : fmt::format("{} {}", name, label.number);
}

void ChromeWriter::write(const Event& event) {
    if (event.kind >= EventKind::kValue) return;
    const Track& track = tracks_[static_cast<std::size_t>(event.track)];
    next();
    switch (event.kind) {
        case EventKind::kSlice:
            file_.print(
                "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"name\":\"{}\"}}",
                track.process, track.thread, event.at, event.end - event.at, text_of(event.label));
            break;
        case EventKind::kInstant:
            file_.print(
                "{{\"ph\":\"i\",\"s\":\"t\",\"pid\":{},\"tid\":{},\"ts\":{},\"name\":\"{}\"}}",
                track.process, track.thread, event.at, text_of(event.label));
            break;
        default:
            file_.print(
                "{{\"ph\":\"C\",\"pid\":{},\"ts\":{},\"name\":\"{}\",\"args\":{{\"value\":{}}}}}",
                track.process, event.at, track.name, event.value);
            break;
    }
}

void ChromeWriter::complete() {
    file_.end_with("\n]}\n");
}

}  // namespace lockstep::trace
