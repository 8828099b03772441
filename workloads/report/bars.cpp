// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/html/plot.h"
#include "workloads/report/sections.h"

namespace lockstep::report {

using html::escape;

std::string stacked_bar(const std::vector<Part>& parts, const std::string& title) {
    double all = 0;
    for (const Part& part : parts) all += part.value;
    if (all <= 0) return "";
    constexpr double kWidth = 720, kHeight = 30;
    std::string body, legend;
    double at = 0;
    std::size_t colour = 0;
    for (const Part& part : parts) {
        const double share = part.value / all;
        constexpr double kWorthShowing = 0.0005;
        const std::size_t own = colour++ % 10;
        if (share < kWorthShowing) continue;
        body += fmt::format(
            "<rect class=\"c{}\" x=\"{:.1f}\" y=\"0\" width=\"{:.1f}\" height=\"{}\">"
            "<title>{}: {:.1f} %</title></rect>",
            own, at, std::max(share * kWidth, 0.5), kHeight, escape(part.name), 100 * share);
        legend += fmt::format(
            "<li><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect "
            "class=\"c{}\" width=\"12\" height=\"12\" rx=\"2\"/></svg> {} {:.1f} %",
            own, escape(part.name), 100 * share);
        at += share * kWidth;
    }
    return html::picture(kWidth, kHeight, 260, title, body) + "<ul class=\"legend\">" + legend +
           "</ul>\n";
}

std::string share_bars(const std::vector<Part>& shares, const std::string& title) {
    constexpr double kName = 150, kEnd = 640, kLine = 26;
    std::string body;
    const double height = kLine * static_cast<double>(shares.size());
    for (const double share : {0.0, 25.0, 50.0, 75.0, 100.0})
        body += fmt::format(
            "<path class=\"grid\" d=\"M{0:.0f} 0V{1:.0f}\"/><text x=\"{0:.0f}\" "
            "y=\"{2:.0f}\" text-anchor=\"middle\">{3:.0f}</text>",
            kName + (kEnd - kName) * share / 100, height, height + 14, share);
    double at = 0;
    for (const Part& share : shares) {
        const double width = (kEnd - kName) * std::clamp(share.value, 0.0, 100.0) / 100;
        body += fmt::format(
            "<text x=\"{0:.0f}\" y=\"{1:.0f}\" text-anchor=\"end\">{2}</text><rect "
            "class=\"effect\" "
            "x=\"{3:.0f}\" y=\"{4:.0f}\" width=\"{5:.1f}\" height=\"16\"/><text x=\"{6:.0f}\" "
            "y=\"{1:.0f}\">{7:.1f} %</text>",
            kName - 8, at + 17, escape(share.name), kName, at + 5, width, kName + width + 6,
            share.value);
        at += kLine;
    }
    return html::picture(kEnd + 60, height + 20, 420, title, body);
}

}  // namespace lockstep::report
