// SPDX-License-Identifier: Apache-2.0
// A miss in L0 looks into the stream buffer, which holds the lines that follow the last miss; a
// line taken from it makes it ask for one more, a miss in both starts it anew (Jouppi 1990; that
// NVIDIA's front end does it, with 8 entries: Huerta et al., MICRO'25). L2 is taken to hold all
// code: the first SM's misses to DRAM are left out.
#include "models/gpu/sm/instruction_cache.h"

namespace lockstep::gpu {

engine::Cycle L0InstructionCache::fetch(engine::Cycle now, std::uint64_t line, bool& hit) {
    const engine::Cycle present = tags_.find(line);
    hit = present != engine::kNever;
    if (hit) return std::max(present, now);
    const std::uint64_t ahead = line - stream_line_;
    engine::Cycle ready;
    if (ahead < stream_count_) {
        ready = stream_[(stream_head_ + ahead) % depth_];
        const auto taken = static_cast<unsigned>(ahead + 1);
        stream_head_ = (stream_head_ + taken) % depth_;
        stream_line_ += taken;
        stream_count_ -= taken;
    } else {
        ready = from_l1(now, line);
        stream_line_ = line + 1;
        stream_count_ = 0;
    }
    while (stream_count_ < depth_) {
        stream_[(stream_head_ + stream_count_) % depth_] =
            from_l1(now, stream_line_ + stream_count_);
        ++stream_count_;
    }
    tags_.insert(line, ready);
    return std::max(ready, now);
}

void L0InstructionCache::clear() {
    tags_.clear();
    stream_count_ = 0;
    port_free_ = 0;
}

}  // namespace lockstep::gpu
