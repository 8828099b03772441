// SPDX-License-Identifier: Apache-2.0
// One page: inline SVG, a few lines of script that sort the table. The roofline counts instructions
// (Ding and Williams, 2019), for it holds of every kernel: warp instructions a cycle of the chip
// over warp instructions a byte of DRAM traffic.
#include "validation/compare/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "sim/config/machine.h"
#include "validation/compare/statistics.h"

namespace lockstep::validation {

namespace {

constexpr double kWidth = 640, kHeight = 420, kMargin = 56;

std::string escape(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '&')
            result += "&amp;";
        else if (c == '"')
            result += "&quot;";
        else
            result += c;
    }
    return result;
}

/// A plot with logarithmic axes.
class LogPlot {
  public:
    LogPlot(double least_x, double most_x, double least_y, double most_y)
        : x0_(std::floor(std::log10(least_x))),
          x1_(std::ceil(std::log10(most_x) + 1e-9)),
          y0_(std::floor(std::log10(least_y))),
          y1_(std::ceil(std::log10(most_y) + 1e-9)) {
        svg_ = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">", kWidth, kHeight);
        for (double e = x0_; e <= x1_; ++e)
            svg_ += fmt::format(
                "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text x=\"{0:.1f}\" "
                "y=\"{3}\" text-anchor=\"middle\">1e{4:.0f}</text>",
                x(std::pow(10, e)), kMargin / 2, kHeight - kMargin, kHeight - kMargin + 16, e);
        for (double e = y0_; e <= y1_; ++e)
            svg_ += fmt::format(
                "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" "
                "y=\"{1:.1f}\" text-anchor=\"end\">1e{4:.0f}</text>",
                kMargin, y(std::pow(10, e)), kWidth - kMargin / 2, kMargin - 4, e);
    }
    void point(double px, double py, const char* style, const std::string& title) {
        svg_ += fmt::format(
            "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}"
            "</title></circle>",
            style, x(px), y(py), escape(title));
    }
    void line(double ax, double ay, double bx, double by, const char* style) {
        svg_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", style, x(ax),
                            y(ay), x(bx), y(by));
    }
    double least_x() const { return std::pow(10, x0_); }
    double most_x() const { return std::pow(10, x1_); }
    std::string text(const char* x_label, const char* y_label) const {
        return svg_ + fmt::format(
                          "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text><text "
                          "x=\"8\" y=\"16\">{}</text></svg>\n",
                          kWidth / 2, kHeight - 8, x_label, y_label);
    }

  private:
    double x(double value) const {
        return kMargin + (kWidth - 1.5 * kMargin) * (std::log10(value) - x0_) / (x1_ - x0_);
    }
    double y(double value) const {
        return kHeight - kMargin -
               (kHeight - 1.5 * kMargin) * (std::log10(value) - y0_) / (y1_ - y0_);
    }
    double x0_, x1_, y0_, y1_;
    std::string svg_;
};

const char* style_of(Part part) {
    return part == Part::kTrain ? "train" : "test";
}

std::string scatter(std::span<const Row> rows) {
    double least = INFINITY, most = 0;
    for (const Row& row : rows)
        for (const double value : {row.reference, row.simulated})
            if (value > 0) least = std::min(least, value), most = std::max(most, value);
    if (most == 0) return "";
    LogPlot plot(least, most, least, most);
    plot.line(plot.least_x(), plot.least_x(), plot.most_x(), plot.most_x(), "diagonal");
    for (const Row& row : rows)
        if (row.reference > 0 && row.simulated > 0)
            plot.point(row.reference, row.simulated, style_of(row.part),
                       fmt::format("{}: {:.6g}, simulated {:.6g}", row.name, row.reference,
                                   row.simulated));
    return plot.text("reference", "simulated");
}

std::string bars(const Suite& suite, std::span<const Row> rows) {
    double most = 1;
    for (const Row& row : rows)
        if (const double e = std::abs(error_of(row, suite.error)); std::isfinite(e))
            most = std::max(most, e);
    const double middle = 440, scale = 180 / most;
    std::string svg =
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">", kWidth + 60, 18 * rows.size() + 8);
    double at = 4;
    for (const Row& row : rows) {
        const double error = error_of(row, suite.error);
        const double width = std::isfinite(error) ? std::abs(error) * scale : 180;
        svg += fmt::format(
            "<text x=\"4\" y=\"{0:.0f}\">{1}</text><rect class=\"{2}\" "
            "x=\"{3:.1f}\" y=\"{4:.0f}\" width=\"{5:.1f}\" height=\"14\">"
            "<title>{1}: {6:+.2f}</title></rect><text x=\"{7}\" y=\"{0:.0f}\" "
            "text-anchor=\"end\">{6:+.1f}</text>",
            at + 11, escape(row.name), style_of(row.part), error < 0 ? middle - width : middle, at,
            width, error, kWidth + 56);
        at += 18;
    }
    return svg + fmt::format("<path class=\"diagonal\" d=\"M{0} 0V{1:.0f}\"/></svg>\n", middle, at);
}

struct Work {
    std::map<std::string, const Row*> rows;  // by quantity
    std::optional<std::pair<double, double>> point(double Row::*side) const {
        double bytes = 0;
        for (const char* quantity : {"cycles", "instructions", "dram_read", "dram_write"})
            if (!rows.contains(quantity)) return std::nullopt;
        bytes = rows.at("dram_read")->*side + rows.at("dram_write")->*side;
        const double instructions = rows.at("instructions")->*side,
                     cycles = rows.at("cycles")->*side;
        if (bytes <= 0 || instructions <= 0 || cycles <= 0) return std::nullopt;
        return std::pair(instructions / bytes, instructions / cycles);
    }
};

std::string roofline(const std::string& machine_name, std::span<const Row> rows) {
    std::map<std::string, Work> works;
    for (const Row& row : rows) works[row.name].rows[row.quantity] = &row;
    std::vector<std::tuple<std::string, std::pair<double, double>, std::pair<double, double>>> all;
    double least_x = INFINITY, most_x = 0, least_y = INFINITY, most_y = 0;
    for (const auto& [name, work] : works) {
        const auto a = work.point(&Row::reference), b = work.point(&Row::simulated);
        if (!a || !b) continue;
        all.emplace_back(name, *a, *b);
        for (const auto& [x, y] : {*a, *b}) {
            least_x = std::min(least_x, x), most_x = std::max(most_x, x);
            least_y = std::min(least_y, y), most_y = std::max(most_y, y);
        }
    }
    if (all.empty()) return "";
    const auto machine = config::Machine::load(machine_name);
    // One warp instruction a cycle for each of an SM's four sub-cores.
    const double peak = 4.0 * static_cast<double>(machine->integer("sm.count"));
    LogPlot plot(least_x, most_x, least_y, std::max(most_y, peak));
    plot.line(plot.least_x(), peak, plot.most_x(), peak, "diagonal");
    for (const auto& [name, a, b] : all) {
        plot.line(a.first, a.second, b.first, b.second, "pair");
        plot.point(a.first, a.second, "measured", name + " measured");
        plot.point(b.first, b.second, "simulated", name + " simulated");
    }
    return "<h2>Roofline of instructions</h2><p>Filled: measured. Hollow: simulated. Line: one "
           "instruction a cycle on each sub-core.</p>" +
           plot.text("warp instructions a DRAM byte", "warp instructions a cycle");
}

std::string statistics_table(const Suite& suite, std::span<const Row> rows) {
    std::string html =
        "<table><tr><th>quantity<th>rows of<th>rows<th>equal<th>mean error<th>mean |error|"
        "<th>median<th>p90<th>max<th>Pearson<th>Kendall</tr>\n";
    const auto line = [&](const std::string& quantity, const std::string& name,
                          const std::vector<Row>& selected) {
        if (selected.empty()) return;
        const ErrorStatistics s = statistics_of(selected, suite.error);
        const auto optional = [](std::optional<double> v) {
            return v ? fmt::format("{:.4f}", *v) : std::string("-");
        };
        html += fmt::format(
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{:+.2f}<td>{:.2f}<td>{:.2f}<td>{:.2f}<td>{:.2f}"
            "<td>{}<td>{}</tr>\n",
            escape(quantity), escape(name), s.rows, s.equal, s.mean_signed, s.mean_absolute,
            s.median_absolute, s.p90_absolute, s.maximum_absolute, optional(s.pearson),
            optional(s.kendall_tau));
    };
    for (const std::string& quantity : quantities(rows)) {
        line(quantity, "all", select(rows, quantity, std::nullopt));
        line(quantity, "train", select(rows, quantity, Part::kTrain));
        line(quantity, "test", select(rows, quantity, Part::kTest));
        std::set<std::string> groups;
        for (const Row& row : rows)
            if (row.quantity == quantity && !row.group.empty()) groups.insert(row.group);
        for (const std::string& group : groups) {
            std::vector<Row> selected = select(rows, quantity, std::nullopt);
            std::erase_if(selected, [&](const Row& row) { return row.group != group; });
            line(quantity, group, selected);
        }
    }
    return html + "</table>\n";
}

std::string row_table(const Suite& suite, std::span<const Row> rows) {
    std::string html = "<table id=\"rows\"><thead><tr>";
    for (const char* name :
         {"name", "group", "quantity", "reference", "simulated", "unit", "error", "part", "note"})
        html += fmt::format("<th>{}", name);
    html += "</tr></thead><tbody>\n";
    for (const Row& row : rows)
        html += fmt::format(
            "<tr><td>{}<td>{}<td>{}<td>{:.8g}<td>{:.8g}<td>{}<td>{:+.2f}<td>{}"
            "<td>{}</tr>\n",
            escape(row.name), escape(row.group), escape(row.quantity), row.reference, row.simulated,
            escape(row.unit), error_of(row, suite.error), style_of(row.part), escape(row.note));
    return html + "</tbody></table>\n";
}

constexpr const char* kStyle =
    "body{font:15px sans-serif;max-width:1000px;margin:2em auto;padding:0 1em}"
    "svg{width:100%;font:11px sans-serif}table{border-collapse:collapse;font-size:13px}"
    "td,th{padding:2px 8px;border-bottom:1px solid #ddd;text-align:left}"
    "#rows th{cursor:pointer;background:#eee}.grid{stroke:#ddd}"
    ".diagonal{stroke:#333;stroke-dasharray:4 3;fill:none}.pair{stroke:#bbb}"
    ".train{fill:#e08214}.test{fill:#2166ac}.measured{fill:#2166ac}"
    ".simulated{fill:#fff;stroke:#2166ac}.sample{background:#fdd;padding:.5em}";

constexpr const char* kScript =
    "document.querySelectorAll('#rows th').forEach((th,i)=>{let up=1;th.onclick=()=>{"
    "const body=document.querySelector('#rows tbody');const cell=r=>r.children[i].textContent;"
    "[...body.rows].sort((a,b)=>{const x=cell(a),y=cell(b),p=parseFloat(x),q=parseFloat(y);"
    "return up*(isNaN(p)||isNaN(q)?x.localeCompare(y):p-q)}).forEach(r=>body.append(r));up=-up}})";

}  // namespace

std::string html_report(const Suite& suite, const std::string& machine, std::span<const Row> rows) {
    const std::vector<std::string> names = quantities(rows);
    // The first quantity is what the suite is about.
    const std::vector<Row> first =
        names.empty() ? std::vector<Row>() : select(rows, names.front(), std::nullopt);
    std::string html = fmt::format(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0} on {1}</title>"
        "<style>{2}</style></head><body><h1>{0} on {1}</h1><p>{3}</p>\n",
        escape(suite.name), escape(machine), kStyle, escape(suite.summary));
    std::set<std::string> sources;
    bool is_sample = false;
    for (const Row& row : rows) {
        sources.insert(row.source);
        is_sample |= row.source.starts_with("SAMPLE");
    }
    if (is_sample)
        html += "<p class=\"sample\">Made from sample data: nothing here was measured.</p>\n";
    if (!first.empty())
        html += fmt::format(
            "<h2>{0}: simulated against reference</h2><p>Orange: train. Blue: test.</p>{1}"
            "<h2>{0}: errors</h2>{2}",
            escape(names.front()), scatter(first), bars(suite, first));
    html += roofline(machine, rows) + "<h2>Statistics</h2>" + statistics_table(suite, rows) +
            "<h2>All values</h2><p>A click on a heading sorts.</p>" + row_table(suite, rows) +
            "<h2>Provenance</h2><ul>";
    for (const std::string& source : sources) html += "<li>" + escape(source);
    return html + "</ul><script>" + kScript + "</script></body></html>\n";
}

}  // namespace lockstep::validation
