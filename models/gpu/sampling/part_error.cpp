// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/part_error.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace lockstep::gpu {

namespace {

constexpr std::size_t kEvery = 4;
constexpr double kProbability = 0.975;  // of either side

/// What is known before any two parts have been compared, and how many comparisons that is worth:
/// parts and chip were 4.9% apart (root mean square; 126 launches of six networks, fp16, h200), as
/// two draws of this spread.
constexpr double kSpread = 0.034;
constexpr std::size_t kWorth = 4;

}  // namespace

bool PartError::compares() const {
    return launches_ % kEvery == 1;
}

void PartError::add(double one, double other) {
    ++launches_;
    ++compared_;
    squares_ += 2 * std::pow((one - other) / (one + other), 2);
}

/// The chip's own time is another such draw: it too depends on where things lie.
double PartError::error() const {
    const auto freedom = static_cast<double>(kWorth + compared_);
    const double squares = squares_ + kWorth * kSpread * kSpread;
    const double t = boost::math::quantile(boost::math::students_t(freedom), kProbability);
    return t * std::sqrt(2 * squares / freedom);
}

}  // namespace lockstep::gpu
