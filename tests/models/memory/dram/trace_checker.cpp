// SPDX-License-Identifier: Apache-2.0
// Written from the definitions of the constraints, without the controller's "not before" registers:
// slow, looks at pairs of commands, and keeps no state but which rows are open.
#include "tests/models/memory/dram/trace_checker.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::memory::dram {
namespace {

struct Place {
    std::uint32_t rank, group, bank;
};

class Checker {
  public:
    Checker(const std::vector<Command>& trace, const Geometry& geometry)
        : trace_(trace),
          geometry_(geometry),
          timing_(geometry.timing),
          rows_(geometry.banks(), kClosed) {}

    std::string check() {
        for (std::size_t i = 0; i < trace_.size(); ++i) {
            if (i > 0 && trace_[i].cycle < trace_[i - 1].cycle) return "time runs backwards";
            std::string wrong = check_state(trace_[i]);
            for (std::size_t j = i; wrong.empty() && j-- > 0;) {
                if (trace_[i].cycle - trace_[j].cycle > kHorizon) break;
                wrong = check_pair(trace_[j], trace_[i]);
            }
            if (wrong.empty()) wrong = check_window(i);
            if (!wrong.empty())
                return fmt::format("command {} at cycle {} bank {}: {}", i, trace_[i].cycle,
                                   trace_[i].bank, wrong);
        }
        return "";
    }

  private:
    static constexpr Cycle kHorizon = 2000;  // longer than any constraint

    Place place(const Command& command) const {
        const Organisation& organisation = geometry_.organisation;
        return {command.bank / organisation.banks_per_rank(),
                command.bank / organisation.banks_per_group, command.bank};
    }

    static bool is_column(CommandKind kind) {
        return kind == CommandKind::kRead || kind == CommandKind::kWrite;
    }

    std::string check_state(const Command& c) {
        std::uint32_t& row = rows_[c.bank];
        switch (c.kind) {
            case CommandKind::kActivate:
                if (row != kClosed) return "activation of an open bank";
                row = c.row;
                break;
            case CommandKind::kPrecharge:
                if (row == kClosed) return "precharge of a closed bank";
                row = kClosed;
                break;
            case CommandKind::kRead:
            case CommandKind::kWrite:
                if (row != c.row) return "access to a row that is not open";
                break;
            case CommandKind::kRefreshBank:
                if (row != kClosed) return "refresh of an open bank";
                break;
            case CommandKind::kRefreshAll: {
                const std::uint32_t first = place(c).rank * geometry_.organisation.banks_per_rank();
                for (std::uint32_t b = 0; b < geometry_.organisation.banks_per_rank(); ++b)
                    if (rows_[first + b] != kClosed) return "refresh of a rank with open banks";
                break;
            }
            case CommandKind::kRefreshIdle:
                for (const std::uint32_t r : rows_)
                    if (r != kClosed) return "idle refresh with open banks";
                break;
        }
        return "";
    }

    std::string check_pair(const Command& a, const Command& b) const {
        const Cycle distance = b.cycle - a.cycle;
        const char* broken = nullptr;
        const auto need = [&](Cycle least, const char* rule) {
            if (distance < least) broken = rule;
        };
        const Place pa = place(a), pb = place(b);
        const bool same_bank = pa.bank == pb.bank, same_group = pa.group == pb.group;
        const bool same_rank = pa.rank == pb.rank;
        const Timing& t = timing_;
        if (a.kind != CommandKind::kRefreshIdle) {
            const bool shared = !geometry_.organisation.separate_row_bus;
            if (shared || is_column(a.kind) == is_column(b.kind))
                need(!is_column(a.kind) && !is_column(b.kind) && a.kind == CommandKind::kActivate
                         ? geometry_.organisation.activate_clocks
                         : 1,
                     "command bus");
        }
        using enum CommandKind;
        if (a.kind == kActivate && b.kind == kActivate) {
            if (same_bank) need(t.RC, "RC");
            if (same_group) need(t.RRD_L, "RRD_L");
            if (same_rank) need(t.RRD_S, "RRD_S");
        }
        if (a.kind == kActivate && b.kind == kPrecharge && same_bank) need(t.RAS, "RAS");
        if (a.kind == kActivate && b.kind == kRead && same_bank) need(t.RCD_read, "RCD_read");
        if (a.kind == kActivate && b.kind == kWrite && same_bank) need(t.RCD_write, "RCD_write");
        if (a.kind == kActivate && b.kind == kRefreshBank && same_rank) need(t.RRD_S, "RRD_S");
        if (a.kind == kPrecharge) {
            if (b.kind == kActivate && same_bank) need(t.RP, "RP");
            if (b.kind == kRefreshBank && same_bank) need(t.RP, "RP");
            if (b.kind == kRefreshAll && same_rank) need(t.RP, "RP");
        }
        if (a.kind == kRead && b.kind == kPrecharge && same_bank) need(t.RTP, "RTP");
        if (a.kind == kWrite && b.kind == kPrecharge && same_bank)
            need(t.CWL + t.burst + t.WR, "WR");
        if (is_column(a.kind) && is_column(b.kind)) {
            // the data bus itself: bursts may not overlap
            const auto first_data = [&](const Command& c) {
                return c.cycle + (c.kind == kRead ? t.CL : t.CWL);
            };
            if (first_data(b) < first_data(a) + t.burst) broken = "data bus overlap";
            if (a.kind == b.kind) {
                need(same_rank ? t.CCD_S : t.CCD_R, same_rank ? "CCD_S" : "CCD_R");
                if (same_group) need(t.CCD_L, "CCD_L");
            } else if (a.kind == kWrite) {
                need(t.CWL + t.burst + (same_group ? t.WTR_L : t.WTR_S), "WTR");
            } else if (first_data(b) < first_data(a) + t.burst + t.turnaround) {
                broken = "bus turnaround";
            }
        }
        if (a.kind == kRefreshAll && same_rank && !is_column(b.kind) && b.kind != kPrecharge)
            need(t.RFC, "RFC");
        if (a.kind == kRefreshBank && b.kind == kActivate && same_bank)
            need(t.RFC_bank, "RFC_bank");
        if (a.kind == kRefreshBank && (b.kind == kActivate || b.kind == kRefreshBank) && same_rank)
            need(t.RREFD, "RREFD");
        if (broken != nullptr) return fmt::format("{} after {} cycles", broken, distance);
        return "";
    }

    /// At most four activations of a rank in any FAW.
    std::string check_window(std::size_t i) const {
        if (trace_[i].kind != CommandKind::kActivate) return "";
        int count = 0;
        for (std::size_t j = i; j-- > 0 && trace_[i].cycle - trace_[j].cycle < timing_.FAW;)
            if (trace_[j].kind == CommandKind::kActivate &&
                place(trace_[j]).rank == place(trace_[i]).rank && ++count == 4)
                return "fifth activation in FAW";
        return "";
    }

    const std::vector<Command>& trace_;
    const Geometry& geometry_;
    const Timing& timing_;
    std::vector<std::uint32_t> rows_;
};

}  // namespace

std::string check_trace(const std::vector<Command>& trace, const Geometry& geometry) {
    return Checker(trace, geometry).check();
}

double worst_refresh_gap(const std::vector<Command>& trace, const Geometry& geometry, Cycle end) {
    // Each unit (rank or bank) by itself; idle refreshes run through all of them on time.
    std::vector<Cycle> last(geometry.banks(), 0);
    Cycle worst = 0;
    const auto refreshed = [&](std::uint32_t bank, Cycle now) {
        worst = std::max(worst, now - last[bank]);
        last[bank] = now;
    };
    const std::uint32_t per_rank = geometry.organisation.banks_per_rank();
    std::uint32_t units = geometry.ranks;
    for (const Command& c : trace)
        if (c.kind == CommandKind::kRefreshBank) units = geometry.banks();
    for (const Command& c : trace) {
        if (c.kind == CommandKind::kRefreshBank) refreshed(c.bank, c.cycle);
        if (c.kind == CommandKind::kRefreshAll)
            for (std::uint32_t b = 0; b < per_rank; ++b)
                refreshed(c.bank / per_rank * per_rank + b, c.cycle);
        if (c.kind == CommandKind::kRefreshIdle)
            for (Cycle& cycle : last) cycle = c.cycle + c.row / units * Cycle{geometry.timing.REFI};
    }
    for (const Cycle cycle : last)
        if (end > cycle) worst = std::max(worst, end - cycle);
    return static_cast<double>(worst) / geometry.timing.REFI;
}

}  // namespace lockstep::memory::dram
