// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/gpu/sampled.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/gpu/sampling/samples.h"

namespace lockstep::run {

void SampledTime::add(const LaunchResult& result) {
    const auto cycles = static_cast<double>(result.cycles);
    ++launches_;
    cycles_ += cycles;
    bool reused = false;
    for (const auto& [name, value] : result.metrics) {
        if (name == gpu::kSampleError) unknown_ += cycles * value.as_double() / 100;
        is_sampled_ |= name == gpu::kSampleError || name == gpu::kSampledCtas;
        reused |= name == gpu::kSampledCtas && value.as_double() == 0;
    }
    if (!reused) ++simulated_;
}

double SampledTime::error() const {
    return cycles_ == 0 ? 0 : 100 * unknown_ / cycles_;
}

std::string SampledTime::text() const {
    if (!is_sampled_) return "";
    return fmt::format(
        "sampled: {} of {} launches were simulated, in part; the others took the time of one like "
        "them. The sum may be off by {:.1f}% (were all launches off to one side as far as each may "
        "be; --stats FILE has each)\n",
        simulated_, launches_, error());
}

}  // namespace lockstep::run
