// SPDX-License-Identifier: Apache-2.0
// A miss in L0 looks into the stream buffer, which holds the lines that follow the last miss; a
// line taken from it makes it ask for one more, a miss in both starts it anew (Jouppi 1990; that
// NVIDIA's front end does it, with 8 entries: Huerta et al., MICRO'25). Lines that it held then go
// to L0 (assumed: with them lost, warps at different places of a loop of 35 KB take 1.5 times as
// long as RTX A6000, siboehm/SGEMM_CUDA's kernel 10). What L1 lacks comes from the GPC's cache, L2
// or DRAM (gcc.h).
#include "models/gpu/sm/instruction_cache.h"

namespace lockstep::gpu {

using engine::Cycle;

Cycle L0InstructionCache::fetch(Cycle now, std::uint32_t line, bool& hit) {
    if (is_ideal_) {
        hit = true;
        return now;
    }
    const Cycle present = tags_.find(line);
    hit = present != engine::kNever;
    if (hit) return std::max(present, now);
    if (std::find(awaited_.begin(), awaited_.end(), line) != awaited_.end()) return kPending;
    const std::uint32_t ahead = line - stream_line_;
    Cycle ready;
    if (ahead < stream_count_) {
        ready = stream_[(stream_head_ + ahead) % depth_];
        const unsigned taken = ahead + 1;
        stream_head_ = (stream_head_ + taken) % depth_;
        stream_line_ += taken;
        stream_count_ -= taken;
    } else {
        keep_stream(now);
        ready = from_l1(now, line);
        stream_line_ = line + 1;
        stream_count_ = 0;
    }
    while (stream_count_ < depth_) {
        stream_[(stream_head_ + stream_count_) % depth_] =
            from_l1(now, stream_line_ + stream_count_);
        ++stream_count_;
    }
    if (ready == kPending) {
        awaited_.push_back(line);
        return kPending;
    }
    tags_.insert(line, ready);
    return std::max(ready, now);
}

/// Lines that were asked for ahead, but not for the warp that misses now: those that are on their
/// way go to L0, and the others give way to what it needs.
void L0InstructionCache::keep_stream(Cycle now) {
    for (unsigned i = 0; i < stream_count_; ++i) {
        const Cycle ready = stream_[(stream_head_ + i) % depth_];
        if (ready == kPending) continue;
        if (ready > now + latency_) {
            port_free_ -= interval_;
            continue;
        }
        const std::uint32_t line = stream_line_ + i;
        if (tags_.find(line) == engine::kNever) tags_.insert(line, ready);
    }
}

Cycle L0InstructionCache::arrived(Cycle now, std::uint32_t line) {
    const auto awaited = std::find(awaited_.begin(), awaited_.end(), line);
    const bool is_awaited = awaited != awaited_.end();
    const std::uint32_t ahead = line - stream_line_;
    Cycle* const entry =
        ahead < stream_count_ ? &stream_[(stream_head_ + ahead) % depth_] : nullptr;
    const bool is_streamed = entry != nullptr && *entry == kPending;
    if (!is_awaited && !is_streamed) return engine::kNever;
    const Cycle ready = from_l1(now, line);
    if (is_streamed) *entry = ready;
    if (!is_awaited) return engine::kNever;
    awaited_.erase(awaited);
    tags_.insert(line, ready);
    return ready;
}

void L0InstructionCache::clear() {
    tags_.clear();
    awaited_.clear();
    stream_count_ = 0;
    port_free_ = 0;
}

}  // namespace lockstep::gpu
