// SPDX-License-Identifier: Apache-2.0
// The eight colours of ECMA-48 alone, which every terminal's palette makes readable on its
// background.
#include "sim/terminal/colour.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace lockstep::terminal {

namespace {

constexpr const char* kChoice = "LOCKSTEP_COLOR";

constexpr std::string_view kReset = "\033[0m", kBold = "\033[1m", kRed = "\033[1;31m",
                           kGreen = "\033[32m", kYellow = "\033[33m", kCyan = "\033[36m";

/// Begins of lines that say what to look at.
constexpr std::string_view kVerdicts[] = {"  Bound by ", "  The grid is too small",
                                          "  It shared the chip", "  Most of the time, "};

std::string painted(std::string_view text, std::string_view colour) {
    return std::string(colour).append(text).append(kReset);
}

/// A heading of a launch: "name  (4, 1, 1)x(256, 1, 1)  on h200".
bool is_heading(std::string_view line) {
    return !line.empty() && line[0] != ' ' && line.find(")x(") != line.npos &&
           line.find(")  on ") != line.npos;
}

/// Bars of # after a share: " 41.2 %  ########   what it means".
std::string paint_bar(std::string_view line) {
    const std::size_t share = line.find(" %  #");
    if (share == line.npos) return std::string(line);
    const std::size_t begin = line.find('#', share);
    const std::size_t end = std::min(line.find_first_not_of('#', begin), line.size());
    return std::string(line.substr(0, begin)) + painted(line.substr(begin, end - begin), kCyan) +
           std::string(line.substr(end));
}

std::string paint_line(std::string_view line) {
    if (is_heading(line)) return painted(line, kBold);
    for (const std::string_view verdict : kVerdicts)
        if (line.starts_with(verdict)) return painted(line, kYellow);
    if (line.starts_with("verified")) return painted(line, kGreen);
    if (line.find("MISMATCH") != line.npos || line.starts_with("mismatch"))
        return painted(line, kRed);
    return paint_bar(line);
}

}  // namespace

void choose_colour(const std::string& when) {
    setenv(kChoice, when.c_str(), 1);
}

bool shows_colour(int descriptor) {
    const auto is = [](const char* variable, const char* value) {
        const char* const set = std::getenv(variable);
        return set != nullptr && std::strcmp(set, value) == 0;
    };
    if (is(kChoice, "always")) return true;
    if (is(kChoice, "never")) return false;
    const char* const none = std::getenv("NO_COLOR");
    return isatty(descriptor) != 0 && !is("TERM", "dumb") && (none == nullptr || none[0] == '\0');
}

std::string painted_report(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        result += paint_line(text.substr(0, end));
        if (end < text.size()) result += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

std::string painted_error(std::string_view text) {
    const std::size_t end = std::min(text.find(':') + 1, text.size());
    return painted(text.substr(0, end), kRed) + std::string(text.substr(end));
}

std::string report_for(int descriptor, std::string_view text) {
    return shows_colour(descriptor) ? painted_report(text) : std::string(text);
}

std::string error_for(int descriptor, std::string_view text) {
    return shows_colour(descriptor) ? painted_error(text) : std::string(text);
}

}  // namespace lockstep::terminal
