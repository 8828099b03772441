// SPDX-License-Identifier: Apache-2.0
// The log is in the order of time, while what happens to one instruction is often known ahead and
// Tiles record one after another: events wait until nothing earlier can come. Source: the format's
// description in Konata's documentation (kanata-log-format), version 0004.
#include "sim/trace/kanata_writer.h"

namespace lockstep::trace {

KanataWriter::KanataWriter(const std::string& path) : file_(path) {
    file_.print("Kanata\t0004\n");
}

void KanataWriter::add_name(NameId, std::string_view text) {
    names_.emplace_back(text);
}

void KanataWriter::write(const Event& event) {
    if (event.kind >= EventKind::kInstruction) waiting_.push({event, arrivals_++});
}

void KanataWriter::advance(Cycle horizon) {
    while (!waiting_.empty() && waiting_.top().event.at < horizon) {
        put(waiting_.top().event);
        waiting_.pop();
    }
}

void KanataWriter::end_stage(Instruction& instruction) {
    if (instruction.has_stage)
        file_.print("E\t{}\t0\t{}\n", instruction.number, text(instruction.stage));
    instruction.has_stage = false;
}

void KanataWriter::put(const Event& event) {
    // A late event stands at the time that the log has reached.
    if (now_ == kForever)
        file_.print("C=\t{}\n", event.at);
    else if (event.at > now_)
        file_.print("C\t{}\n", event.at - now_);
    if (now_ == kForever || event.at > now_) now_ = event.at;

    if (event.kind == EventKind::kInstruction) {
        const std::uint64_t number = instructions_++;
        in_flight_[event.instruction] = {number};
        file_.print("I\t{}\t{}\t{}\n", number, number, event.thread);
        file_.print("L\t{}\t0\t{}\n", number, text(event.label.name));
        if (event.label.number != Label::kNoNumber)  // shown where the instruction is pointed at
            file_.print("L\t{}\t1\tmask {:08x}\n", number, event.label.number);
        return;
    }
    const auto found = in_flight_.find(event.instruction);
    if (found == in_flight_.end()) return;
    Instruction& instruction = found->second;
    end_stage(instruction);
    if (event.kind == EventKind::kStage) {
        instruction.stage = event.label.name;
        instruction.has_stage = true;
        file_.print("S\t{}\t0\t{}\n", instruction.number, text(event.label.name));
    } else {
        file_.print("R\t{}\t{}\t0\n", instruction.number, retired_++);
        in_flight_.erase(found);
    }
}

void KanataWriter::complete() {
    file_.end_with("");
}

}  // namespace lockstep::trace
