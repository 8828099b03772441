// SPDX-License-Identifier: Apache-2.0
// Any line, all alike: a ring of lines a little longer than the set keeps a part of them. Needs no
// state a set in hardware. The generator starts alike in every run: xorshift64 (Marsaglia, 2003).
#pragma once

#include <cstdint>

namespace lockstep::gpu {

class RandomReplacement {
  public:
    template <typename Lines>
    std::uint32_t victim(const Lines& lines) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return lines.nth(static_cast<std::uint32_t>((state_ >> 32) * lines.count() >> 32));
    }
    void clear() { state_ = kSeed; }

  private:
    static constexpr std::uint64_t kSeed = 88172645463325252;
    std::uint64_t state_ = kSeed;
};

}  // namespace lockstep::gpu
