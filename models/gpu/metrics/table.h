// SPDX-License-Identifier: Apache-2.0
// The table of a GPU's metrics: one row each, which names it, explains it and computes it. The
// statistics file and the reference page (metrics.md) are made from it. A quotient without a
// denominator is 0, as for a kernel that never touched the unit.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/gpu/metrics/metrics.h"

namespace lockstep::gpu {

inline double quotient(double numerator, double denominator) {
    return denominator > 0 ? numerator / denominator : 0.0;
}
inline double percent(double part, double whole) {
    return 100.0 * quotient(part, whole);
}

/// One launch: all that its metrics are derived from.
struct LaunchView {
    const Peaks& peaks;
    const LaunchShape& shape;
    const Measurement& measured;

    double cycles() const { return static_cast<double>(measured.cycles); }
    /// Elapsed cycles, summed over the SMs.
    double sm_cycles() const { return cycles() * static_cast<double>(peaks.sms); }
    /// Active cycles of the SMs, once for each of their sub-cores.
    double active_sub_core_cycles() const {
        return static_cast<double>(measured.sm.cycles_active * peaks.sub_cores);
    }
};

/// Counters as functions of a launch: `sm<&SmCounters::ctas>`.
template <auto kMember>
inline constexpr auto sm = [](const LaunchView& l) { return l.measured.sm.*kMember; };
template <auto kMember>
inline constexpr auto memory = [](const LaunchView& l) { return l.measured.memory.*kMember; };
template <auto kMember>
inline constexpr auto partition = [](const LaunchView& l) { return l.measured.partition.*kMember; };

struct MetricRow {
    std::string name;
    const char* unit;
    std::string meaning;
    std::function<stats::Value(const LaunchView&)> value;
    /// Launches without it have no such line; every launch has it where this is empty.
    std::function<bool(const LaunchView&)> is_present = nullptr;

    template <typename Condition>
    void only_where(Condition condition) {
        is_present = condition;
    }
};

/// Rows in the order of the statistics file.
class MetricTable {
  public:
    /// A count of `unit`.
    template <typename Count>
    MetricRow& count(std::string name, const char* unit, std::string meaning, Count value) {
        return add(std::move(name), unit, std::move(meaning),
                   [value](const LaunchView& l) { return stats::Value(std::uint64_t{value(l)}); });
    }
    template <typename Number>
    MetricRow& number(std::string name, const char* unit, std::string meaning, Number value) {
        return add(std::move(name), unit, std::move(meaning), [value](const LaunchView& l) {
            return stats::Value(static_cast<double>(value(l)));
        });
    }
    template <typename Part, typename Whole>
    MetricRow& ratio(std::string name, const char* unit, std::string meaning, Part part,
                     Whole whole) {
        return number(
            std::move(name), unit, std::move(meaning), [part, whole](const LaunchView& l) {
                return quotient(static_cast<double>(part(l)), static_cast<double>(whole(l)));
            });
    }
    template <typename Part, typename Whole>
    MetricRow& percentage(std::string name, std::string meaning, Part part, Whole whole) {
        return number(std::move(name), "%", std::move(meaning), [part, whole](const LaunchView& l) {
            return percent(static_cast<double>(part(l)), static_cast<double>(whole(l)));
        });
    }
    const std::vector<MetricRow>& rows() const { return rows_; }

  private:
    MetricRow& add(std::string name, const char* unit, std::string meaning,
                   std::function<stats::Value(const LaunchView&)> value) {
        return rows_.emplace_back(
            MetricRow{std::move(name), unit, std::move(meaning), std::move(value)});
    }
    std::vector<MetricRow> rows_;
};

/// All metrics of a launch that ran alone in cycles.
const std::vector<MetricRow>& metric_rows();

}  // namespace lockstep::gpu
