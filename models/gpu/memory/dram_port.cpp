// SPDX-License-Identifier: Apache-2.0
// The ways between L2 and the memory are the Channels; address and time are all that goes out, the
// bytes live in functional memory.
#include "models/gpu/memory/dram_port.h"

#include <bit>

namespace lockstep::gpu {

void DramPort::request(engine::Cycle at, std::uint64_t line,
                       const DramChannel::Transfer& transfer) {
    const std::uint32_t entry =
        entries_.take({transfer, static_cast<std::uint8_t>(std::popcount(transfer.sectors))});
    for (unsigned sectors = transfer.sectors; sectors != 0; sectors &= sectors - 1) {
        const auto sector = static_cast<unsigned>(std::countr_zero(sectors));
        const engine::MemoryRequest request{
            .address = line * kLineBytes + sector * kSectorBytes,
            .bytes = kSectorBytes,
            .write = transfer.direction == memory::dram::Direction::kWrite,
            .tag = entry};
        waiting_.push_sorted({at, request},
                             [](const Waiting& a, const Waiting& b) { return a.at < b.at; });
    }
}

void DramPort::take(engine::Cycle until, std::vector<DramChannel::Completion>& completions) {
    for (engine::Cycle at = responses.next_ready(); at < until; at = responses.next_ready()) {
        const auto index = static_cast<std::uint32_t>(responses.receive(at).tag);
        if (--entries_[index].left != 0) continue;
        completions.push_back({at, entries_[index].transfer});
        entries_.give_back(index);
    }
}

bool DramPort::send(engine::Cycle until) {
    while (!waiting_.empty() && waiting_.front().at < until &&
           requests.credits(waiting_.front().at) > 0) {
        requests.send(waiting_.front().at, waiting_.front().request);
        waiting_.pop();
    }
    // Those that found no credit leave in a later window, in the same order.
    waiting_.for_each([&](Waiting& waiting) { waiting.at = std::max(waiting.at, until); });
    return waiting_.empty();
}

}  // namespace lockstep::gpu
