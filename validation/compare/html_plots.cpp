// SPDX-License-Identifier: Apache-2.0
// The roofline counts instructions (Ding and Williams, 2019), for it holds of every kernel: warp
// instructions a cycle of the chip over warp instructions a byte of DRAM traffic.
#include "validation/compare/html_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "sim/config/machine.h"
#include "sim/html/plot.h"
#include "validation/compare/report.h"
#include "validation/compare/statistics.h"

namespace lockstep::validation {

using html::escape;
using html::Mark;
using html::mark;
using html::Plot;
using html::Range;

namespace {

Mark mark_of(Part part) {
    return part == Part::kTrain ? Mark::kTriangle : Mark::kCircle;
}

std::string with_unit(const char* side, const Row& row) {
    return fmt::format("{} {}{}", side, row.quantity,
                       row.unit.empty() || row.unit == row.quantity ? "" : " (" + row.unit + ")");
}

/// 1, 2, 4 or 10 times a power of ten: halves of it are round too.
double round_up(double value) {
    double power = 1;
    while (power < value) power *= 10;
    while (power > 1 && power / 10 >= value) power /= 10;
    for (const double part : {0.2, 0.4})
        if (value <= part * power) return part * power;
    return power;
}

/// Errors of the sizes of one kernel.
struct KernelErrors {
    std::string group, kernel;
    std::vector<Row> rows;
};

std::vector<KernelErrors> by_kernel(std::span<const Row> rows) {
    std::vector<KernelErrors> list;
    for (const Row& row : rows) {
        const std::string kernel = row.name.substr(0, row.name.find(':'));
        auto found = std::find_if(list.begin(), list.end(), [&](const KernelErrors& entry) {
            return entry.group == row.group && entry.kernel == kernel;
        });
        if (found == list.end()) found = list.insert(list.end(), {row.group, kernel, {}});
        found->rows.push_back(row);
    }
    std::stable_sort(list.begin(), list.end(), [](const KernelErrors& a, const KernelErrors& b) {
        return a.group < b.group;
    });
    return list;
}

/// Where a workload stands in the roofline, on one side.
class Work {
  public:
    void add(const Row& row) { rows_[row.quantity] = &row; }
    std::optional<std::pair<double, double>> point(double Row::*side) const {
        double values[4];
        for (int i = 0;
             const char* quantity : {"instructions", "cycles", "dram_read", "dram_write"}) {
            const auto found = rows_.find(quantity);
            if (found == rows_.end()) return std::nullopt;
            values[i++] = found->second->*side;
        }
        const double bytes = values[2] + values[3];
        if (bytes <= 0 || values[0] <= 0 || values[1] <= 0) return std::nullopt;
        return std::pair(values[0] / bytes, values[0] / values[1]);
    }

  private:
    std::map<std::string, const Row*> rows_;  // by quantity
};

}  // namespace

std::string scatter_plot(std::span<const Row> rows) {
    Range range;
    for (const Row& row : rows)
        if (row.reference > 0 && row.simulated > 0)
            range.include(row.reference), range.include(row.simulated);
    if (range.is_empty()) return "";
    Plot plot({range}, {range}, 560, 560,
              "simulated over reference, both logarithmic, with the diagonal of equality");
    plot.line(plot.x_range().least, plot.x_range().least, plot.x_range().most, plot.x_range().most,
              "diagonal");
    for (const Row& row : rows)
        if (row.reference > 0 && row.simulated > 0)
            plot.point(
                row.reference, row.simulated, mark_of(row.part),
                std::string(part_name(row.part)).c_str(),
                fmt::format("{}: reference {}, simulated {} {}", row.name,
                            number_text(row.reference), number_text(row.simulated), row.unit));
    return plot.text(with_unit("reference", rows[0]), with_unit("simulated", rows[0]));
}

std::string error_bars(const Suite& suite, std::span<const Row> rows) {
    constexpr double kLine = 18, kLabel = 236, kEnd = 640, kNumber = 704, kTop = 22;
    constexpr double kMost = 100;  // beyond this a mark stands at the edge
    double largest = 0;
    for (const Row& row : rows)
        if (const double e = std::abs(error_of(row, suite.error)); std::isfinite(e))
            largest = std::max(largest, e);
    if (suite.error == Error::kRelative) largest = std::min(largest, kMost);
    const double most = round_up(largest);
    const double middle = (kLabel + kEnd) / 2, scale = (kEnd - kLabel) / 2 / most;
    const auto x = [&](double error) { return middle + scale * std::clamp(error, -most, most); };
    std::string body;
    double at = kTop;
    std::string group;
    for (const KernelErrors& entry : by_kernel(rows)) {
        if (entry.group != group) {
            group = entry.group;
            at += kLine;
            body += fmt::format("<text class=\"head\" x=\"0\" y=\"{:.0f}\">{}</text>", at - 5,
                                escape(group));
        }
        const ErrorStatistics s = statistics_of(entry.rows, suite.error);
        const char* const style = part_name(entry.rows[0].part).data();
        body += fmt::format("<text x=\"8\" y=\"{:.0f}\">{}</text>", at + 13, escape(entry.kernel));
        if (std::isfinite(s.mean_signed)) {
            const double end = x(s.mean_signed);
            body += fmt::format(
                "<rect class=\"{} bar\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"12\"/>",
                style, std::min(end, middle), at + 3, std::abs(end - middle));
            double from = INFINITY, to = -INFINITY;
            for (const Row& row : entry.rows)
                if (const double e = error_of(row, suite.error); std::isfinite(e))
                    from = std::min(from, e), to = std::max(to, e);
            body += fmt::format("<path class=\"whisker\" d=\"M{:.1f} {:.0f}H{:.1f}\"/>", x(from),
                                at + 9, x(to));
        }
        for (const Row& row : entry.rows)
            if (const double e = error_of(row, suite.error); std::isfinite(e))
                body += mark(mark_of(row.part), x(e), at + 9, style,
                             row.name + ": " + error_text(row, suite.error));
        body += fmt::format(
            "<text x=\"{}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>", kNumber, at + 13,
            std::isfinite(s.mean_signed) ? fmt::format("{:+.1f}", s.mean_signed) : "n/a");
        at += kLine;
    }
    std::string axis;
    for (const double share : {-1.0, -0.5, 0.0, 0.5, 1.0})
        axis += fmt::format(
            "<path class=\"{}\" d=\"M{:.1f} {}V{:.0f}\"/><text x=\"{:.1f}\" y=\"{}\" "
            "text-anchor=\"middle\">{:+.3g}{}</text>",
            share == 0 ? "zero" : "grid", x(share * most), kTop - 4, at, x(share * most), kTop - 8,
            share * most, suite.error == Error::kRelative ? "%" : "");
    return fmt::format(
               "<div class=\"plot\"><svg viewBox=\"0 0 {0} {1:.0f}\" "
               "style=\"min-width:600px;max-width:{0}px\" "
               "role=\"img\" aria-label=\"errors of each kernel; the table of all values has "
               "them too\">",
               kNumber + 4, at + 4) +
           axis + body + "</svg></div>\n";
}

std::string roofline(const std::string& machine_name, std::span<const Row> rows) {
    std::map<std::string, Work> works;
    for (const Row& row : rows) works[row.name].add(row);
    using Point = std::pair<double, double>;
    std::vector<std::tuple<std::string, Point, Point>> all;
    Range range_x, range_y;
    for (const auto& [name, work] : works) {
        const auto a = work.point(&Row::reference), b = work.point(&Row::simulated);
        if (!a || !b) continue;
        all.emplace_back(name, *a, *b);
        for (const auto& [x, y] : {*a, *b}) range_x.include(x), range_y.include(y);
    }
    if (all.empty()) return "";
    const auto machine = config::Machine::load(machine_name);
    // One warp instruction a cycle for each of an SM's four sub-cores.
    const double peak = 4.0 * static_cast<double>(machine->integer("sm.count"));
    const double bytes_a_cycle =
        machine->number("dram.bandwidth") * 1e9 / (machine->number("clock.sm") * 1e6);
    range_y.include(peak);
    range_x.include(peak / bytes_a_cycle);
    Plot plot({range_x}, {range_y}, 640, 440,
              "warp instructions a cycle over warp instructions a byte of DRAM traffic, measured "
              "and simulated, below the machine's limits");
    const double ridge = peak / bytes_a_cycle;
    const double first = std::max(plot.x_range().least, plot.y_range().least / bytes_a_cycle);
    plot.line(first, first * bytes_a_cycle, ridge, peak, "roof");
    plot.line(ridge, peak, plot.x_range().most, peak, "roof");
    for (const auto& [name, a, b] : all) {
        plot.line(a.first, a.second, b.first, b.second, "pair");
        for (const auto& [point, form, side] : {std::tuple(a, Mark::kCircle, "measured"),
                                                std::tuple(b, Mark::kHollowCircle, "simulated")})
            plot.point(point.first, point.second, form, "test",
                       fmt::format("{} {}: {:.3g} instructions a cycle, {:.3g} a byte", name, side,
                                   point.second, point.first));
    }
    return fmt::format(
               "<h2>Roofline of instructions</h2><p>Filled: measured. Hollow: simulated; a line "
               "joins the two. Limits: DRAM of {} ({:.0f} bytes a cycle) and one instruction a "
               "cycle on each of its {:.0f} sub-cores.</p>",
               escape(machine_name), bytes_a_cycle, peak) +
           plot.text("warp instructions a byte of DRAM traffic", "warp instructions a cycle");
}

}  // namespace lockstep::validation
