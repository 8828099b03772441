// SPDX-License-Identifier: Apache-2.0
// Plots, statistics, and a table of all values with a script of few lines that filters it.
#include "validation/compare/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/html/page.h"
#include "sim/html/plot.h"
#include "validation/compare/html_plots.h"
#include "validation/compare/report.h"
#include "validation/compare/statistics.h"

namespace lockstep::validation {

using html::escape;
using html::Mark;

namespace {

std::string cell(const std::string& text) {
    return "<td>" + escape(text);
}
std::string number_cell(const std::string& text) {
    return "<td class=\"n\">" + text;
}

constexpr const char* kStatisticsHead =
    "<th class=\"n\">rows<th class=\"n\">equal<th class=\"n\">mean<th class=\"n\">mean |error|"
    "<th class=\"n\">median<th class=\"n\">p90<th class=\"n\">max<th class=\"n\">Pearson"
    "<th class=\"n\">Kendall</tr></thead><tbody>\n";

std::string statistics_cells(const ErrorStatistics& s) {
    const auto fixed = [](double v) {
        return number_cell(std::isfinite(v) ? fmt::format("{:.2f}", v) : "n/a");
    };
    const auto optional = [](std::optional<double> v) {
        return number_cell(v ? fmt::format("{:.4f}", *v) : std::string("–"));
    };
    std::string text = number_cell(
        s.without_error == 0 ? fmt::format("{}", s.rows)
                             : fmt::format("<span title=\"{} have a reference of 0 and so no "
                                           "relative error\">{}*</span>",
                                           s.without_error, s.rows));
    text += number_cell(fmt::format("{}", s.equal));
    text +=
        number_cell(std::isfinite(s.mean_signed) ? fmt::format("{:+.2f}", s.mean_signed) : "n/a");
    text += fixed(s.mean_absolute) + fixed(s.median_absolute) + fixed(s.p90_absolute) +
            fixed(s.maximum_absolute);
    return text + optional(s.pearson) + optional(s.kendall_tau) + "</tr>\n";
}

/// By quantity and part; by group within each quantity.
std::string statistics_tables(const Suite& suite, std::span<const Row> rows) {
    std::string parts = "<div class=\"wide\"><table><thead><tr><th>quantity<th>part",
                groups = "<div class=\"wide\"><table><thead><tr><th>quantity<th>group";
    parts += kStatisticsHead, groups += kStatisticsHead;
    bool has_groups = false;
    for (const std::string& quantity : quantities(rows)) {
        const std::vector<Row> all = select(rows, quantity, std::nullopt);
        const std::vector<Row> train = select(all, "", Part::kTrain),
                               test = select(all, "", Part::kTest);
        const auto add = [&](std::string& table, const std::string& name,
                             std::span<const Row> some) {
            table += "<tr>" + cell(quantity) + cell(name) +
                     statistics_cells(statistics_of(some, suite.error));
        };
        add(parts, "all", all);
        if (!train.empty() && !test.empty()) add(parts, "train", train), add(parts, "test", test);
        std::set<std::string> names;
        for (const Row& row : all)
            if (!row.group.empty()) names.insert(row.group);
        for (const std::string& name : names) {
            std::vector<Row> some = all;
            std::erase_if(some, [&](const Row& row) { return row.group != name; });
            add(groups, name, some);
            has_groups = true;
        }
    }
    parts += "</tbody></table></div>\n";
    if (!has_groups) return parts;
    return parts + "<details><summary>By group of kernels</summary>" + groups +
           "</tbody></table></div></details>\n";
}

std::string row_cells(const Suite& suite, const Row& row) {
    return "<tr>" + cell(row.name) + cell(row.group) + cell(row.quantity) +
           number_cell(number_text(row.reference)) + number_cell(number_text(row.simulated)) +
           cell(row.unit) + number_cell(error_text(row, suite.error)) +
           cell(std::string(part_name(row.part))) + cell(row.note) + "</tr>\n";
}

constexpr std::string_view kRowHeads[] = {"name", "group", "quantity", "reference", "simulated",
                                          "unit", "error", "part",     "note"};

/// Headings stand above their columns: those of numbers at the right.
std::string row_heads(const char* before, const char* after) {
    std::string text;
    for (const std::string_view name : kRowHeads) {
        const bool is_number = name == "reference" || name == "simulated" || name == "error";
        text += fmt::format("<th scope=\"col\"{}>{}{}{}", is_number ? " class=\"n\"" : "", before,
                            name, after);
    }
    return text;
}

std::string worst_table(const Suite& suite, std::span<const Row> rows) {
    std::string text = "<div class=\"wide\"><table><thead><tr>";
    text += row_heads("", "") + "</tr></thead><tbody>\n";
    for (const Row& row : furthest_off(rows, suite.error, kWorstRows))
        text += row_cells(suite, row);
    return text + "</tbody></table></div>\n";
}

std::string row_table(const Suite& suite, std::span<const Row> rows) {
    std::string text =
        "<p id=\"filters\" hidden><label>quantity <select id=\"quantity\"><option value=\"\">all";
    for (const std::string& quantity : quantities(rows))
        text += fmt::format("<option>{}", escape(quantity));
    text +=
        "</select></label> <label>part <select id=\"part\"><option value=\"\">both<option>train"
        "<option>test</select></label> <label>name <input id=\"find\" type=\"search\" "
        "size=\"20\"></label> <span id=\"count\" aria-live=\"polite\"></span></p>\n"
        "<div class=\"wide\"><table class=\"sortable\" id=\"rows\"><thead><tr>";
    text += row_heads("<button type=\"button\">", "</button>") + "</tr></thead><tbody>\n";
    for (const Row& row : rows) text += row_cells(suite, row);
    return text + "</tbody></table></div>\n";
}

constexpr std::string_view kStyle = "td:first-child{min-width:15em;overflow-wrap:anywhere}";

/// Filters the table of values.
constexpr std::string_view kScript =
    "const all=[...document.querySelectorAll('#rows tbody tr')];"
    "const cell=(r,i)=>r.children[i].textContent;"
    "const by=id=>document.getElementById(id),q=by('quantity'),p=by('part'),f=by('find');"
    "const show=()=>{let n=0;const word=f.value.toLowerCase();all.forEach(r=>{"
    "const on=(!q.value||cell(r,2)===q.value)&&(!p.value||cell(r,7)===p.value)&&"
    "cell(r,0).toLowerCase().includes(word);r.hidden=!on;n+=on});"
    "by('count').textContent=n+' of '+all.length+' values'};"
    "[q,p,f].forEach(e=>e.oninput=show);by('filters').hidden=false;"
    "if(all.length>500)q.selectedIndex=1;show()";

/// What the suite is about: what it has to reach, or else what it begins with.
std::string main_quantity(const Suite& suite, std::span<const Row> rows) {
    const std::vector<std::string> names = quantities(rows);
    for (const std::string& name : names)
        if (name == (suite.goal ? suite.goal->quantity : suite.bar_quantity)) return name;
    return names.empty() ? "" : names.front();
}

/// A mark as it stands in the plots.
std::string key(Mark form, const char* style) {
    return "<svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">" +
           html::mark(form, 6, 6, style, "") + "</svg>";
}

}  // namespace

std::string html_report(const Suite& suite, const std::string& machine, std::span<const Row> rows) {
    const std::string about = main_quantity(suite, rows);
    const std::vector<Row> first =
        about.empty() ? std::vector<Row>() : select(rows, about, std::nullopt);
    std::string text = fmt::format("<h1>Suite {}, machine {}</h1><p>{}</p>\n", escape(suite.name),
                                   escape(machine), escape(suite.summary));
    if (const std::string warning = sample_warning(rows); !warning.empty())
        text += "<p class=\"sample\">Made from sample data: nothing here was measured.</p>\n";
    if (const std::string verdict = goal_text(suite, rows); !verdict.empty())
        text += "<pre>" + escape(verdict) + "</pre>\n";
    if (!first.empty()) {
        const std::string quantity = escape(about);
        const std::string legend = key(Mark::kTriangle, "train") + " train, " +
                                   key(Mark::kCircle, "test") +
                                   " test: whether the rows were looked at when the model's "
                                   "parameters were chosen.";
        text += fmt::format(
            "<h2>{0}: simulated against reference</h2><p>{1} Above the dashed line the model says "
            "more.</p>{2}<h2>{0}: errors by kernel</h2><p>A bar is the mean over a kernel's sizes "
            "(the number at the right), a line spans them, a mark is one size.</p>{3}",
            quantity, legend, scatter_plot(first), error_bars(suite, first));
    }
    text += roofline(machine, rows);
    if (!first.empty())
        text += fmt::format("<h2>{}: furthest off</h2>", escape(about)) + worst_table(suite, first);
    text += fmt::format(
        "<h2>Statistics</h2><p>Errors in {}. Mean: signed, above 0 the model says more. Median, "
        "90th "
        "percentile and maximum: of the absolute errors. Correlations are of the values.</p>",
        suite.error == Error::kRelative ? "%; of rates and shares in points"
                                        : "the values' own units");
    text += statistics_tables(suite, rows) +
            "<h2>All values</h2><p>A heading sorts, a second time the other way.</p>" +
            row_table(suite, rows) + "<h2>Provenance</h2><ul>";
    std::vector<std::string> sources;
    for (const Row& row : rows)
        if (std::find(sources.begin(), sources.end(), row.source) == sources.end())
            sources.push_back(row.source);
    for (const std::string& source : sources) text += "<li>" + escape(source);
    return html::page(fmt::format("{} on {}", suite.name, machine), text + "</ul>", kStyle,
                      kScript);
}

}  // namespace lockstep::validation
