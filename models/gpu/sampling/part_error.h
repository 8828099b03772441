// SPDX-License-Identifier: Apache-2.0
// How far the time of a part may be from the chip's: by how far parts of two sizes are apart that
// run two blocks of the same grid, which some launches do.
#pragma once

#include <cstddef>

namespace lockstep::gpu {

class PartError {
  public:
    /// Whether the next launch is to run on a second part too: every fourth, but not the first,
    /// which is often the longest.
    bool compares() const;
    /// A launch has run on one part.
    void add() { ++launches_; }
    /// ... on two, in so many cycles.
    void add(double one, double other);
    /// 95 of 100 launches take within this share of their time on a part.
    double error() const;

  private:
    std::size_t launches_ = 0, compared_ = 0;
    double squares_ = 0;  ///< of the spread of both about their mean
};

}  // namespace lockstep::gpu
