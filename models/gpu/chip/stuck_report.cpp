// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/chip/stuck_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/gpu/execution/cta_runner.h"

namespace lockstep::gpu {

std::string explain_waits(Sms sms) {
    for (const std::unique_ptr<Sm>& sm : sms)
        if (sm->ctas().resident_cta() != nullptr) return sm->name() + ": " + sm->explain_wait();
    return "";
}

void check_limit(Sms sms, std::uint64_t most, std::uint64_t instructions) {
    if (most == 0 || instructions <= most) return;
    for (const std::unique_ptr<Sm>& sm : sms)
        if (const sass::Cta* cta = sm->ctas().resident_cta())
            throw instruction_limit_fault(*cta, most);
}

void report_deadlock(Sms sms, const std::string& what) {
    for (const std::unique_ptr<Sm>& sm : sms) {
        const sass::Cta* cta = sm->ctas().resident_cta();
        if (cta == nullptr) continue;
        const auto waits = [](const sass::Warp* warp) {
            return warp->live != 0 && warp->active == 0;
        };
        if (std::any_of(cta->warps.begin(), cta->warps.end(), waits)) report_stuck(*cta);
        throw LocatedFault{{.kind = sass::FaultKind::kDeadlock, .what = what},
                           cta->linear_index,
                           0,
                           cta->warps.front()->pc,
                           cta->launch};
    }
    throw InternalError(what);
}

void report_spin(Sms sms) {
    for (const std::unique_ptr<Sm>& sm : sms) {
        const sass::Cta* cta = sm->ctas().resident_cta();
        if (cta == nullptr) continue;
        const auto runs = [](const sass::Warp* warp) { return warp->active != 0; };
        const auto found = std::find_if(cta->warps.begin(), cta->warps.end(), runs);
        const sass::Warp& warp = found != cta->warps.end() ? **found : *cta->warps.front();
        throw LocatedFault{{.kind = sass::FaultKind::kDeadlock,
                            .what = fmt::format("no thread can go on ({})", sm->explain_wait())},
                           cta->linear_index,
                           warp.index,
                           warp.pc,
                           cta->launch};
    }
}

}  // namespace lockstep::gpu
