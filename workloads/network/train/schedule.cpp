// SPDX-License-Identifier: Apache-2.0
// Cosine: Loshchilov and Hutter, arXiv 1608.03983, without restarts.
#include "workloads/network/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/error/error.h"

namespace lockstep::network {

double Schedule::at(std::uint64_t step) const {
    if (step <= warm_up) return rate * static_cast<double>(step) / static_cast<double>(warm_up);
    const std::uint64_t done = step - warm_up - 1;
    switch (kind) {
        case Kind::kConstant:
            return rate;
        case Kind::kStep:
            return rate *
                   std::pow(factor, static_cast<double>(done / std::max<std::uint64_t>(1, every)));
        case Kind::kCosine: {
            const std::uint64_t falls = length > warm_up ? length - warm_up : 1;
            const double way =
                std::min(1.0, static_cast<double>(done) / static_cast<double>(falls));
            return rate * (last + (1 - last) * (1 + std::cos(std::numbers::pi * way)) / 2);
        }
    }
    throw InternalError("a schedule without a rule");
}

Schedule::Kind schedule_named(std::string_view name) {
    if (name == "constant") return Schedule::Kind::kConstant;
    if (name == "step") return Schedule::Kind::kStep;
    if (name == "cosine") return Schedule::Kind::kCosine;
    throw InputError(fmt::format("schedule {}: there are constant, step and cosine", name));
}

}  // namespace lockstep::network
