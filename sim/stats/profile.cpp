// SPDX-License-Identifier: Apache-2.0
#include "sim/stats/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/stats/profile_text.h"

namespace lockstep::stats {

namespace {

constexpr std::string_view kStates = "warp_cycles_", kSelected = "warp_cycles_selected";

std::string count_text(std::uint64_t count) {
    if (count == 0) return "";
    if (count < 100'000) return fmt::format("{}", count);
    if (count < 10'000'000) return fmt::format("{}k", (count + 500) / 1000);
    return fmt::format("{}M", (count + 500'000) / 1'000'000);
}

std::string ratio_text(const Profile& profile, const Profile::Row& row, std::string_view part,
                       std::string_view whole) {
    const std::size_t a = profile.column(part), b = profile.column(whole);
    if (a == profile.columns.size() || b == profile.columns.size() || row.values[b] == 0) return "";
    return fmt::format("{:.1f}",
                       static_cast<double>(row.values[a]) / static_cast<double>(row.values[b]));
}

}  // namespace

std::size_t Profile::column(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
}

std::uint64_t Profile::value(const Row& row, std::string_view name) const {
    const std::size_t at = column(name);
    return at < row.values.size() ? row.values[at] : 0;
}

std::uint64_t Profile::stalled(const Row& row) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].starts_with(kStates) && columns[i] != kSelected) sum += row.values[i];
    return sum;
}

std::string main_stall(const Profile& profile, const Profile::Row& row) {
    const std::uint64_t stalled = profile.stalled(row);
    if (stalled == 0) return "";
    std::size_t most = profile.columns.size();
    for (std::size_t i = 0; i < profile.columns.size(); ++i) {
        if (!profile.columns[i].starts_with(kStates) || profile.columns[i] == kSelected) continue;
        if (most == profile.columns.size() || row.values[i] > row.values[most]) most = i;
    }
    std::string name = profile.columns[most].substr(kStates.size());
    std::ranges::replace(name, '_', ' ');
    return fmt::format(
        "{} {:.0f}%", name,
        100.0 * static_cast<double>(row.values[most]) / static_cast<double>(stalled));
}

std::string source_text(const Profile& profile) {
    std::uint64_t all = 0;
    for (const Profile::Row& row : profile.rows) all += profile.stalled(row);
    std::string text =
        fmt::format("{:>8} {:>7}  {:<26} {:>7} {:>9}  {:>6}  {}\n", "issues", "stalled", "most by",
                    "sectors", "conflicts", "pc", "instruction");
    std::string function, source;
    for (const Profile::Row& row : profile.rows) {
        if (row.function != function) text += fmt::format("{}\n", row.function);
        if (row.source != source && !row.source.empty())
            text += fmt::format("{:<62}; {}\n", "", row.source);
        function = row.function;
        source = row.source;
        const std::uint64_t stalled = profile.stalled(row);
        const std::string share =
            stalled == 0 ? ""
                         : fmt::format("{:.1f}%", 100.0 * static_cast<double>(stalled) /
                                                      static_cast<double>(std::max(all, stalled)));
        text += fmt::format("{:>8} {:>7}  {:<26} {:>7} {:>9}  {:#06x}  {}\n",
                            count_text(profile.value(row, "inst_executed")), share,
                            main_stall(profile, row),
                            ratio_text(profile, row, "l1_sectors", "l1_requests"),
                            count_text(profile.value(row, "bank_conflicts")), row.pc, row.sass);
    }
    return text;
}

}  // namespace lockstep::stats
