// SPDX-License-Identifier: Apache-2.0
#include "isa/command/storage.h"

#include <algorithm>
#include <cstring>

#include "sim/error/error.h"

namespace lockstep::command {

Storage::Storage(const Program& program, bool with_values)
    : isa_(&program.isa()), buffers_(program.buffers) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        by_place_.push_back(i);
    }
    std::stable_sort(by_place_.begin(), by_place_.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(buffers_[a].space, buffers_[a].address) <
               std::pair(buffers_[b].space, buffers_[b].address);
    });
    if (!with_values) return;
    for (const Buffer& buffer : buffers_) {
        contents_.push_back(zeros<std::uint8_t>(buffer.bytes));
        if (contents_.back() == nullptr)
            throw InputError(
                fmt::format("buffer {} of {} bytes does not fit this computer's memory",
                            buffer.name, buffer.bytes));
    }
    for (const Segment& segment : program.segments)
        std::copy(segment.bytes.begin(), segment.bytes.end(),
                  contents(segment.buffer).begin() + static_cast<std::ptrdiff_t>(segment.offset));
}

std::size_t Storage::index_at(Id space, std::uint64_t address) const {
    const auto after =
        std::upper_bound(by_place_.begin(), by_place_.end(), std::pair(space, address),
                         [&](const auto& key, std::size_t b) {
                             return key < std::pair(buffers_[b].space, buffers_[b].address);
                         });
    for (auto it = after; it != by_place_.begin();) {
        const Buffer& buffer = buffers_[*--it];
        if (buffer.space != space) break;
        if (buffer.bytes == 0) continue;
        return address - buffer.address < buffer.bytes ? *it : buffers_.size();
    }
    return buffers_.size();
}

const Buffer* Storage::find(Id space, std::uint64_t begin, std::uint64_t end) const {
    const std::size_t index = index_at(space, begin);
    if (index == buffers_.size()) return nullptr;
    const Buffer& buffer = buffers_[index];
    return end - buffer.address <= buffer.bytes ? &buffer : nullptr;
}

std::string Storage::explain(Id space, std::uint64_t begin, std::uint64_t end) const {
    const std::string where =
        fmt::format("[{:#x}, {:#x}) of {}", begin, end, isa_->spaces[space.value]);
    const std::size_t index = index_at(space, begin);
    if (index == buffers_.size()) return where + " begins outside of every buffer";
    const Buffer& buffer = buffers_[index];
    return fmt::format("{} begins in buffer {}, which ends at {:#x}", where, buffer.name,
                       buffer.address + buffer.bytes);
}

std::span<std::uint8_t> Storage::at(Id space, std::uint64_t address) {
    const std::size_t index = index_at(space, address);
    LOCKSTEP_CHECK(index < contents_.size(), "no buffer holds {:#x}", address);
    return contents(index).subspan(address - buffers_[index].address);
}

}  // namespace lockstep::command
