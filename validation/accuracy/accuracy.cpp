// SPDX-License-Identifier: Apache-2.0
#include "validation/accuracy/accuracy.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/stats/find.h"
#include "validation/accuracy/gpu_class.h"
#include "validation/published/published.h"

namespace lockstep::validation {

namespace {

/// The multiply-adds of a step; nothing where the machine does not count them.
std::optional<double> macs_of(const stats::Step& step) {
    const stats::Value* const macs = stats::find(step.metrics, "macs");
    return macs == nullptr ? std::nullopt : std::optional(macs->as_double());
}

}  // namespace

std::optional<Expectation> expectation(std::string_view machine, std::string_view work_class) {
    static const Table table("accuracy.csv", accuracy_csv());
    std::optional<Expectation> found;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const std::string& of = table.text(i, "machine");
        if (table.text(i, "class") != work_class || (of != machine && of != kAnyGpu)) continue;
        if (found && of == kAnyGpu) continue;
        found = Expectation{.suite = table.text(i, "suite"),
                            .of_others = of == kAnyGpu,
                            .rows = static_cast<std::size_t>(table.number(i, "rows")),
                            .held = static_cast<std::size_t>(table.number(i, "held")),
                            .mean = table.number(i, "mean"),
                            .worst = table.number(i, "worst")};
    }
    return found;
}

std::string work_class(const stats::Statistics& statistics) {
    if (const std::string gpu = gpu_class(statistics); !gpu.empty()) return gpu;
    std::size_t products = 0;
    for (const stats::Step& step : statistics.steps()) {
        const std::optional<double> macs = macs_of(step);
        if (!macs) return "";
        products += *macs > 0;
    }
    if (statistics.steps().empty()) return "";
    return products == 0 ? "vector" : products == 1 ? "product" : "network";
}

std::string expectation_text(const stats::Statistics& statistics) {
    if (statistics.mode() != "cycle") return "";
    const std::string kind = work_class(statistics);
    const auto expected = expectation(statistics.machine(), kind);
    if (!expected) return "";
    return fmt::format(
        "expect {:.0f}% off ({} like it measured{}, {} of them kept apart; worst {:.0f}%; "
        "class {}; compare --suite {})\n",
        expected->mean, expected->rows, expected->of_others ? " on other GPUs" : "", expected->held,
        expected->worst, kind, expected->suite);
}

}  // namespace lockstep::validation
