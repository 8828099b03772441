// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/paragraph.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace lockstep::cli {

std::size_t screen_width() {
    constexpr std::size_t kDefault = 100, kLeast = 40;
    if (const char* const text = std::getenv("COLUMNS"); text != nullptr) {
        const std::string_view digits = text;
        std::size_t columns = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), columns);
        if (error == std::errc{} && end == digits.data() + digits.size() && columns != 0)
            return std::max(columns, kLeast);
    }
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
        return std::max<std::size_t>(size.ws_col, kLeast);
    return kDefault;
}

std::string paragraph(std::string_view text, std::size_t indent) {
    const std::size_t width = std::max(screen_width(), indent + 20);
    std::string result, line;
    const auto end_line = [&] {
        if (!line.empty()) result += std::string(indent, ' ') + line + "\n";
        line.clear();
    };
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (word.empty()) continue;
        if (!line.empty() && indent + line.size() + 1 + word.size() > width) end_line();
        if (!line.empty()) line += ' ';
        line += word;
    }
    end_line();
    return result;
}

}  // namespace lockstep::cli
