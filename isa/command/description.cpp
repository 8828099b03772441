// SPDX-License-Identifier: Apache-2.0
#include "isa/command/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "isa/command/types.h"
#include "isa/command/word.h"

namespace lockstep::command {

namespace {

std::string check_field(const Description& isa, std::size_t index) {
    const FieldRow& field = isa.fields[index];
    if (field.field != Id::of(index)) return "stands out of order";
    if (field.kind == FieldKind::kFloat && field.width != 32)
        return "is a float of other than 32 bits";
    if (field.kind == FieldKind::kName && field.names.size() > std::size_t{1} << field.width)
        return "has more names than its bits count";
    return "";
}

std::string check_opcode(const Description& isa, std::size_t index) {
    const OpcodeRow& opcode = isa.opcodes[index];
    if (opcode.opcode != Id::of(index)) return "stands out of order";
    if (opcode.queue.value >= isa.queues.size()) return "goes to no queue";
    std::set<Id> seen;
    for (const Id field : opcode.fields) {
        if (field.value >= isa.fields.size() || field.value < isa.queue_count())
            return "has a field that is none of its own";
        if (!seen.insert(field).second)
            return fmt::format("has field {} twice", isa.row(field).name);
    }
    if (word_end(isa, opcode) > 8 * isa.word_bytes) return "does not fit into the word";
    if (opcode.queue == isa.unit_queue && isa.unit_queue != isa.sequencer() &&
        !seen.contains(isa.unit))
        return fmt::format("goes to a unit's queue without field {}", isa.row(isa.unit).name);
    return "";
}

}  // namespace

bool Description::has_field(const OpcodeRow& opcode, Id field) const {
    return field.value < queue_count() ||
           std::find(opcode.fields.begin(), opcode.fields.end(), field) != opcode.fields.end();
}

std::string check_description(const Description& isa) {
    if (isa.fields.size() > kMaxFields || isa.queue_count() > kMaxQueues ||
        isa.spaces.size() > kMaxSpaces || isa.types.size() > kDataTypes ||
        isa.word_bytes > kMaxWordBytes)
        return "more fields, queues, spaces, types or bytes than there is room for";
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < isa.fields.size(); ++i) {
        std::string wrong = check_field(isa, i);
        if (!names.insert(isa.fields[i].name).second) wrong = "has the name of another";
        if (!wrong.empty()) return fmt::format("field {} {}", isa.fields[i].name, wrong);
    }
    names.clear();
    for (std::size_t i = 0; i < isa.opcodes.size(); ++i) {
        std::string wrong = check_opcode(isa, i);
        if (!names.insert(isa.opcodes[i].mnemonic).second) wrong = "has the name of another";
        if (!wrong.empty()) return fmt::format("opcode {} {}", isa.opcodes[i].mnemonic, wrong);
    }
    return "";
}

}  // namespace lockstep::command
