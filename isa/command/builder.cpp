// SPDX-License-Identifier: Apache-2.0
#include "isa/command/builder.h"

#include <algorithm>

namespace lockstep::command {

namespace {

constexpr std::uint64_t kAlignment = 256;

}  // namespace

void add_waits(Instruction& instruction, const QueueCounts& issued, const QueueCounts& need) {
    const Description& isa = instruction.isa();
    for (std::size_t other = 0; other < isa.queue_count(); ++other) {
        if (need[other] == 0) continue;
        // A wait for a later instruction of the queue includes all before it.
        const std::uint32_t farthest = (1u << isa.fields[other].width) - 1;
        const std::uint32_t distance = std::min(issued[other] - need[other] + 1, farthest);
        const std::uint32_t present = instruction.wait(other);
        instruction.put(Id::of(other), present == 0 ? distance : std::min(distance, present));
    }
}

std::string allowed_name(std::string name, bool is_word) {
    name.resize(std::min(name.size(), kLongestName / 2));
    for (char& c : name) {
        const auto code = static_cast<unsigned char>(c);
        if (code < ' ' || code == 127 || code == '#' || (is_word && code == ' ')) c = '_';
    }
    if (name.empty()) return "_";
    if (name.front() == ' ') name.front() = '_';
    if (name.back() == ' ') name.back() = '_';
    return name;
}

void BufferPlaces::place(Buffer& buffer) {
    LOCKSTEP_CHECK(buffer.space.value < kBufferSpaces,
                   "buffer {} is neither in host memory nor in memory", buffer.name);
    std::uint64_t& next = next_address_[buffer.space.value];
    buffer.address = next;
    const std::string name = allowed_name(std::move(buffer.name), true);
    buffer.name = name;
    for (int i = 2; !names_.insert(buffer.name).second; ++i)
        buffer.name = fmt::format("{}~{}", name, i);
    next += (buffer.bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace lockstep::command
