// SPDX-License-Identifier: Apache-2.0
// Which line of a full set makes room: a policy a file, chosen by `l1.replacement` and
// `l2.replacement`. A switch and no virtual functions: a cache asks at every access.
//
// A cache keeps the lines of a set in order of age, as use_renews() has it, and shows a policy the
// lines that may leave (`Lines`, at least one):
//   oldest()          the way of the oldest
//   count(), nth(i)   how many there are; the way of one
//   any(first, n)     whether one is among the n ways from `first` on
#pragma once

#include "models/gpu/memory/replacement/fifo.h"
#include "models/gpu/memory/replacement/lru.h"
#include "models/gpu/memory/replacement/random_replacement.h"
#include "models/gpu/memory/replacement/replacement_policy.h"
#include "models/gpu/memory/replacement/tree_plru.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

/// Plain data: a copy is a checkpoint.
class Replacement {
  public:
    Replacement(ReplacementPolicy policy, std::uint32_t sets, std::uint32_t ways)
        : policy_(policy) {
        if (policy == ReplacementPolicy::kTreePlru) tree_ = TreePlru(sets, ways);
    }

    /// Whether a use makes a line the youngest of its set; placing it always does.
    bool use_renews() const {
        return policy_ == ReplacementPolicy::kLru ? Lru::kUseRenews : Fifo::kUseRenews;
    }
    /// Whether victims go by age alone.
    bool is_by_age() const {
        return policy_ == ReplacementPolicy::kLru || policy_ == ReplacementPolicy::kFifo;
    }
    /// A line was placed or used.
    void use(std::uint32_t set, std::uint32_t way) {
        if (policy_ == ReplacementPolicy::kTreePlru) tree_.use(set, way);
    }
    /// The way that makes room.
    template <typename Lines>
    std::uint32_t victim(std::uint32_t set, const Lines& lines) {
        switch (policy_) {
            case ReplacementPolicy::kLru:
                return Lru::victim(lines);
            case ReplacementPolicy::kFifo:
                return Fifo::victim(lines);
            case ReplacementPolicy::kRandom:
                return random_.victim(lines);
            case ReplacementPolicy::kTreePlru:
                return tree_.victim(set, lines);
        }
        throw InternalError("no such replacement policy");
    }
    void clear() {
        random_.clear();
        if (policy_ == ReplacementPolicy::kTreePlru) tree_.clear();
    }

  private:
    ReplacementPolicy policy_;
    RandomReplacement random_;
    TreePlru tree_;
};

}  // namespace lockstep::gpu
