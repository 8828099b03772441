// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/waves.h"

#include <algorithm>
#include <boost/accumulators/accumulators.hpp>
#include <boost/accumulators/statistics/stats.hpp>
#include <boost/accumulators/statistics/variance.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace lockstep::gpu {

namespace {

constexpr std::uint64_t kFirstWaves = 5;
constexpr std::uint64_t kLooked = 3;    ///< waves in a row that take the same time
constexpr double kSame = 0.02;          ///< by how much they may differ
constexpr double kProbability = 0.975;  ///< of either side: 95% of the sums lie between

}  // namespace

SampledWaves::SampledWaves(std::uint64_t ctas, std::uint64_t concurrent, std::uint64_t cache)
    : ctas_(ctas),
      concurrent_(std::max<std::uint64_t>(concurrent, 1)),
      cache_(cache),
      simulated_(ctas % concurrent_ + kFirstWaves * concurrent_) {
    if (simulated_ + concurrent_ > ctas_) simulated_ = ctas_;
    if (!is_whole()) ends_.reserve(simulated_);
}

double SampledWaves::duration(std::uint64_t wave) const {
    if (wave < 2 || wave > last_wave()) return 0;
    return static_cast<double>(ends_[wave * concurrent_ - 1] - ends_[(wave - 1) * concurrent_ - 1]);
}

/// All that the kernel brings finds room (half of the cache, for two partitions may both hold it),
/// or the cache was full before the waves that are looked at.
bool SampledWaves::is_cache_settled(std::uint64_t brought) const {
    const double waves = static_cast<double>(last_wave()), now = static_cast<double>(brought),
                 of_all = now * static_cast<double>(ctas_) / static_cast<double>(ends_.size()),
                 cache = static_cast<double>(cache_);
    return of_all <= cache / 2 || now * (1 - kLooked / waves) >= cache;
}

SampledWaves::Durations SampledWaves::durations() const {
    Durations found{duration(judged_), duration(judged_), 0};
    for (std::uint64_t i = 0; i < kLooked; ++i) {
        const double own = judged_ > i ? duration(judged_ - i) : 0;
        found.least = std::min(found.least, own);
        found.most = std::max(found.most, own);
        found.mean += own / kLooked;
    }
    return found;
}

void SampledWaves::look(std::uint64_t brought) {
    if (is_whole() || last_wave() == 0) return;
    judged_ = last_wave();
    const Durations found = durations();
    const bool is_steady = found.least > 0 && found.most - found.least <= kSame * found.mean;
    if (is_steady && is_cache_settled(brought)) return;
    simulated_ = simulated_ + 2 * concurrent_ > ctas_ ? ctas_ : simulated_ + concurrent_;
}

double SampledWaves::waves_left() const {
    return static_cast<double>(ctas_ - simulated_) / static_cast<double>(concurrent_);
}

double SampledWaves::missing_cycles() const {
    return is_whole() ? 0 : waves_left() * durations().mean;
}

/// Waves were looked at until three agreed, so those three say too little: all since the second
/// count, those that fill caches too. A sample of n normal values predicts the sum of l others
/// within l * t * s * sqrt(1/n + 1/l) (t: Student's, n - 1 degrees of freedom) of l times its own
/// mean.
double SampledWaves::uncertainty() const {
    if (is_whole()) return 0;
    namespace acc = boost::accumulators;
    acc::accumulator_set<double, acc::stats<acc::tag::variance>> seen;
    for (std::uint64_t wave = 2; wave <= judged_; ++wave) seen(duration(wave));
    const double n = static_cast<double>(acc::count(seen)), left = waves_left(),
                 deviation = std::sqrt(acc::variance(seen) * n / (n - 1)),
                 t = boost::math::quantile(boost::math::students_t(n - 1), kProbability);
    return left * (std::abs(acc::mean(seen) - durations().mean) +
                   t * deviation * std::sqrt(1 / n + 1 / left));
}

}  // namespace lockstep::gpu
