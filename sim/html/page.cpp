// SPDX-License-Identifier: Apache-2.0
#include "sim/html/page.h"

#include <fmt/format.h>

#include "sim/html/plot.h"

namespace lockstep::html {

namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--line:#d8d8d8;--soft:#f1f1f1;"
    "--dim:#5c5c5c;--train:#b85c00;--test:#1f5fa8;--good:#1a7f4b;--warn:#fde2e0}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e4e4;--paper:#161618;--line:#3a3a3e;"
    "--soft:#232327;--dim:#a5a5a5;--train:#f0a050;--test:#74b0f4;--good:#5fcf95;--warn:#5a2320}}"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1060px;margin:1.5em auto;padding:0 1em;"
    "color:var(--ink);background:var(--paper);overflow-wrap:break-word}"
    "h1{font-size:1.6em;margin:.2em 0;line-height:1.2}"
    "h2{font-size:1.2em;margin:1.6em 0 .4em}h3{font-size:1em;margin:1.2em 0 .3em}p{margin:.4em 0}"
    "pre{white-space:pre-wrap;margin:.6em 0;"
    "padding:.6em .8em;background:var(--soft);border-radius:4px;font:inherit}"
    ".plot,.wide{overflow-x:auto}.plot svg{display:block;width:100%;min-width:340px;"
    "font:11.5px system-ui,sans-serif}svg text{fill:var(--ink)}svg .head{font-weight:600}"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:3px 9px;text-align:left;"
    "border-bottom:1px solid var(--line)}"
    "th{background:var(--soft);white-space:nowrap}td.n,th.n{text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}tbody tr:hover{background:var(--soft)}"
    "th button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:0;"
    "cursor:pointer}th[aria-sort=ascending] button:after{content:' \\25b2'}"
    "th[aria-sort=descending] button:after{content:' \\25bc'}"
    "summary{cursor:pointer;margin:.6em 0}select,input{font:inherit}.dim{color:var(--dim)}"
    ".grid{stroke:var(--line);fill:none}.minor{opacity:.45}.zero{stroke:var(--dim);fill:none}"
    ".diagonal,.roof{stroke:var(--ink);fill:none}.diagonal{stroke-dasharray:5 4}"
    ".pair,.whisker{stroke:var(--dim);fill:none}.train{fill:var(--train)}.test{fill:var(--test)}"
    ".bar{opacity:.35}.hollow{fill:none;stroke:var(--test);stroke-width:1.5}"
    ".key{width:12px;height:12px;vertical-align:-1px}"
    ".sample{background:var(--warn);padding:.6em .8em;border-radius:4px;font-weight:600}";

constexpr std::string_view kScript =
    "document.querySelectorAll('table.sortable').forEach(table=>{"
    "const body=table.tBodies[0],heads=table.querySelectorAll('th');"
    "heads.forEach((th,i)=>{th.firstChild.onclick=()=>{"
    "const up=th.getAttribute('aria-sort')==='ascending'?-1:1;"
    "heads.forEach(o=>o.removeAttribute('aria-sort'));"
    "th.setAttribute('aria-sort',up>0?'ascending':'descending');"
    "const cell=r=>r.children[i].textContent,isNumber=th.className==='n';"
    "const value=r=>{const n=parseFloat(r.children[i].dataset.v??cell(r));"
    "return isNaN(n)?Infinity:n};"
    "body.append(...[...body.rows].sort((a,b)=>isNumber?(value(a)===value(b)?0:"
    "up*(value(a)<value(b)?-1:1)):up*cell(a).localeCompare(cell(b))))}})});";

}  // namespace

std::string page(std::string_view title, std::string_view body, std::string_view style,
                 std::string_view script) {
    return fmt::format(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><title>{}</title><style>{}{}</style>"
        "</head><body>{}<script>{}{}</script></body></html>\n",
        escape(title), kStyle, style, body, kScript, script);
}

Table::Table(std::vector<Column> columns, std::string_view id)
    : columns_(std::move(columns)), id_(id) {}

void Table::row(std::span<const std::string> cells, std::string_view style) {
    rows_ += style.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", style);
    for (std::size_t i = 0; i < cells.size(); ++i)
        rows_ += (columns_[i].is_number ? "<td class=\"n\">" : "<td>") + cells[i];
    rows_ += "</tr>\n";
}

std::string Table::text() const {
    std::string html = fmt::format(
        "<div class=\"wide\" tabindex=\"0\" role=\"group\"><table class=\"sortable\"{}><thead><tr>",
        id_.empty() ? "" : fmt::format(" id=\"{}\"", id_));
    for (const Column& column : columns_)
        html += fmt::format(
            "<th scope=\"col\"{}{}><button type=\"button\">{}</button>",
            column.is_number ? " class=\"n\"" : "",
            column.title.empty() ? "" : fmt::format(" title=\"{}\"", escape(column.title)),
            escape(column.name));
    return html + "</tr></thead><tbody>\n" + rows_ + "</tbody></table></div>\n";
}

}  // namespace lockstep::html
