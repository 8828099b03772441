// SPDX-License-Identifier: Apache-2.0
#include "workloads/choose/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/error/error.h"

namespace lockstep::choose {

namespace {

bool is_narrow(const std::string& precision) {
    return precision == "fp16" || precision == "bf16";
}

/// What runs reach in one says something of the other.
bool is_kind(const std::string& a, const std::string& b) {
    return a == b || (is_narrow(a) && is_narrow(b));
}

Share summary(std::vector<double> shares, bool is_same_network) {
    std::ranges::sort(shares);
    const std::size_t n = shares.size();
    const double median = n % 2 != 0 ? shares[n / 2] : (shares[n / 2 - 1] + shares[n / 2]) / 2;
    return {median, shares.front(), shares.back(), n, is_same_network};
}

std::string limit_of(const Estimate& estimate) {
    constexpr double kMostly = 0.6;
    if (estimate.memory_share > kMostly) return "bandwidth";
    return estimate.memory_share < 1 - kMostly ? "arithmetic" : "both";
}

Answer answer(const Question& question, const network::Graph& graph, const config::Machine& machine,
              const std::vector<Reached>& reached, const Prices& prices) {
    Answer made{.machine = machine.name()};
    const DataSheet sheet = data_sheet(machine);
    made.precision =
        question.precision.empty() ? usual_precision(sheet, question.phase) : question.precision;
    if (sheet.bandwidth <= 0 || sheet.memory <= 0) {
        made.reason = "no memory of its own is known";
    } else if (made.precision.empty()) {
        made.reason = fmt::format("computes in integers only: no {}", name_of(question.phase));
    } else if (sheet.peak(made.precision) <= 0) {
        made.reason = fmt::format("has no units for {}", made.precision);
    }
    if (!made.reason.empty()) return made;
    made.estimate = estimate(graph, sheet, made.precision, question.phase);
    made.capacity = sheet.memory;
    made.fits = made.estimate.memory() <= sheet.memory;
    made.limit = limit_of(made.estimate);
    made.share =
        share_of(reached, question.network, question.phase, made.precision, question.batch);
    made.rate = static_cast<double>(question.batch) / made.estimate.seconds *
                (made.share ? made.share->median : 1);
    made.hour = prices.hour(machine.name());
    made.card = prices.card(machine.name());
    constexpr double kSecondsPerHour = 3600;
    if (question.samples > 0) made.hours = question.samples / made.rate / kSecondsPerHour;
    if (made.hour) made.usd = made.hours * made.hour->usd;
    return made;
}

std::string rate_text(double rate) {
    return rate < 100 ? fmt::format("{:.3g}", rate) : fmt::format("{:.0f}", rate);
}

std::string gigabytes(double bytes) {
    return fmt::format("{:.{}f}", bytes * 1e-9, bytes < 9.95e9 ? 1 : 0);
}

std::string duration(double hours) {
    if (hours >= 48) return fmt::format("{:.1f} d", hours / 24);
    if (hours >= 1) return fmt::format("{:.1f} h", hours);
    if (hours * 60 >= 1) return fmt::format("{:.1f} min", hours * 60);
    return fmt::format("{:.1f} s", hours * 3600);
}

}  // namespace

std::optional<Share> share_of(const std::vector<Reached>& reached, const std::string& network,
                              Phase phase, const std::string& precision, std::int64_t batch,
                              const std::string& but) {
    constexpr std::size_t kFew = 3;
    constexpr std::int64_t kNear = 4;
    const auto shares = [&](bool same_network, bool near_batch) {
        std::vector<double> found;
        for (const Reached& run : reached)
            if (run.phase == phase && run.machine != but && is_kind(run.precision, precision) &&
                (!same_network || run.network == network) &&
                (!near_batch || (run.batch <= kNear * batch && batch <= kNear * run.batch)))
                found.push_back(run.share);
        return found;
    };
    for (const auto& [same, near] :
         {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
        const std::vector<double> found = shares(same, near);
        if (found.size() >= kFew) return summary(found, same);
    }
    return std::nullopt;
}

std::vector<Answer> choose(const Question& question, const network::Graph& graph,
                           const std::vector<std::shared_ptr<const config::Machine>>& machines,
                           const std::vector<Reached>& reached, const Prices& prices) {
    std::vector<Answer> answers;
    for (const auto& machine : machines)
        answers.push_back(answer(question, graph, *machine, reached, prices));
    std::ranges::stable_sort(answers, [](const Answer& a, const Answer& b) {
        const auto key = [](const Answer& x) {
            return std::tuple(!x.reason.empty(), !x.fits, x.usd <= 0, x.usd, -x.rate);
        };
        return key(a) < key(b);
    });
    return answers;
}

std::string table_of(const Question& question, const std::vector<Answer>& answers) {
    const bool has_time = question.samples > 0;
    std::string text = fmt::format("{:<15} {:<5} {:>9} {:>7}  {:<4} {:>10} {:>10}", "machine", "in",
                                   "needs GB", "has GB", "fits", "samples/s", "at most");
    if (has_time) text += fmt::format(" {:>9} {:>9}", "time", "USD");
    text += "  limited by\n";
    for (const Answer& a : answers) {
        if (!a.reason.empty()) continue;
        text += fmt::format("{:<15} {:<5} {:>9} {:>7}  {:<4} {:>10} {:>10}", a.machine, a.precision,
                            gigabytes(a.estimate.memory()), gigabytes(a.capacity),
                            a.fits ? "yes" : "NO", rate_text(a.rate),
                            rate_text(static_cast<double>(question.batch) / a.estimate.seconds));
        if (has_time)
            text += fmt::format(" {:>9} {:>9}", a.fits ? duration(a.hours) : "-",
                                a.fits && a.usd > 0 ? fmt::format("{:.2f}", a.usd) : "-");
        text += fmt::format("  {}\n", a.limit);
    }
    std::string others;
    for (const Answer& a : answers)
        if (!a.reason.empty())
            others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", a.machine, a.reason);
    if (!others.empty()) text += "not looked at: " + others + "\n";
    return text;
}

}  // namespace lockstep::choose
