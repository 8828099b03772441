// SPDX-License-Identifier: Apache-2.0
// Hardware: lines are interleaved over banks of a few ports; who does not get a bank waits. Our
// simplification: not single accesses are arbitrated but rates: an instruction gets of each bank
// what those before it (the oldest first) have left, and works as fast as its scarcest bank lets
// it. So do units that have four accesses under way which may overtake each other (a test, within
// 5% and what is under way); units that stop at every access would lose 3% more on average, and
// up to half where a stride of two follows one of one.
#include "models/memory/banks/bank_arbiter.h"

#include <algorithm>
#include <cmath>

namespace lockstep::memory {

namespace {

/// Below this share of its speed an instruction stands; also what doubles lose.
constexpr double kNothing = 1e-6;

}  // namespace

BankArbiter::Cycle BankArbiter::access(Cycle now, Cycle begin, Cycle cycles,
                                       const BankLoads& loads) {
    std::erase_if(promises_, [&](const Promise& promise) { return promise.end <= now; });
    const std::size_t others = promises_.size();
    double left = static_cast<double>(cycles);  // at full speed
    Cycle at = begin;
    while (left > kNothing) {
        // Until one of those before it begins or ends, the speed does not change.
        BankLoads taken{};
        Cycle change = ~Cycle{0};
        for (std::size_t i = 0; i < others; ++i) {
            const Promise& promise = promises_[i];
            if (promise.begin > at) change = std::min(change, promise.begin);
            if (promise.begin > at || promise.end <= at) continue;
            change = std::min(change, promise.end);
            for (std::uint32_t bank = 0; bank < parameters_.banks; ++bank)
                taken[bank] += promise.loads[bank];
        }
        double speed = 1;
        for (std::uint32_t bank = 0; bank < parameters_.banks; ++bank)
            if (loads[bank] > 0)
                speed = std::min(speed, (parameters_.ports - taken[bank]) / loads[bank]);
        if (speed < kNothing) {
            at = change;
            continue;
        }
        const auto needed = static_cast<Cycle>(std::ceil(left / speed - kNothing));
        const Cycle end = std::min(change, at + std::max<Cycle>(1, needed));
        Promise mine{at, end, loads};
        for (double& load : mine.loads) load *= speed;
        promises_.push_back(mine);
        left -= speed * static_cast<double>(end - at);
        at = end;
    }
    return at;
}

}  // namespace lockstep::memory
