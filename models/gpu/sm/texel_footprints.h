// SPDX-License-Identifier: Apache-2.0
// What texture fetches in flight read. They are few and large, so that memory instructions point to
// them.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "isa/sass/texture/footprint.h"

namespace lockstep::gpu {

class TexelFootprints {
  public:
    /// Execution notes the texels of an instruction here.
    sass::TexelFootprint& noted() { return noted_; }
    /// A copy of what was noted, until it is released.
    const sass::TexelFootprint* keep() {
        if (free_.empty())
            free_.push_back(all_.emplace_back(std::make_unique<sass::TexelFootprint>()).get());
        sass::TexelFootprint* const kept = free_.back();
        free_.pop_back();
        kept->taps = noted_.taps;
        kept->texel_bytes = noted_.texel_bytes;
        std::copy_n(noted_.lanes, noted_.taps, kept->lanes);
        std::copy_n(noted_.address, noted_.taps, kept->address);
        return kept;
    }
    void release(const sass::TexelFootprint* kept) {
        free_.push_back(const_cast<sass::TexelFootprint*>(kept));
    }

  private:
    sass::TexelFootprint noted_;
    std::vector<std::unique_ptr<sass::TexelFootprint>> all_;
    std::vector<sass::TexelFootprint*> free_;
};

}  // namespace lockstep::gpu
