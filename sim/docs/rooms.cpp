// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/rooms.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace lockstep::docs {

namespace {

/// A page belongs to the row with the longest path that its own begins with; "*" stands for any
/// beginning. Rows of one room stand in the order of its pages.
struct Row {
    std::string_view path, room;
};

constexpr std::string_view kLast = "More";

constexpr Row kRows[] = {
    {"README.md", "Start"},
    {"sim/docs/glossary.md", "Start"},
    {"sim/cli", "Start"},
    {"workloads/run", "Start"},
    {"sim/lab/labs", "Labs"},
    {"*/lab.md", "Labs"},
    {"sim/lab", "Labs"},
    {"models/gpu", "GPU"},
    {"isa/sass", "GPU"},
    {"isa/cubin", "GPU"},
    {"workloads/cuda", "GPU"},
    {"workloads/cuda_api", "GPU"},
    {"models/tpu", "TPU"},
    {"isa/tpu", "TPU"},
    {"models/npu", "NPU"},
    {"isa/npu", "NPU"},
    {"workloads/network", "Networks"},
    {"workloads/network/train", "Networks"},
    {"workloads/report", "Explore"},
    {"workloads/sweep", "Explore"},
    {"workloads/choose", "Explore"},
    {"workloads/api", "Explore"},
    {"workloads", "Explore"},
    {"models/energy", "Explore"},
    {"models/roofline", "Explore"},
    {"models/system", "Systems and memory"},
    {"models/interconnect", "Systems and memory"},
    {"models/memory", "Systems and memory"},
    {"models", "Systems and memory"},
    {"validation", "Validation"},
    {"tests", "Validation"},
    {".github/CONTRIBUTING.md", "Develop"},
    {"sim", "Develop"},
    {"isa/command", "Develop"},
    {"isa", "Develop"},
};

bool is_of(std::string_view path, std::string_view row) {
    if (row.starts_with('*')) return path.ends_with(row.substr(1));
    return path == row || (path.starts_with(row) && path[row.size()] == '/');
}

/// The row's number; that of no row for what none names.
std::size_t row_of(std::string_view path) {
    std::size_t best = std::size(kRows), length = 0;
    for (std::size_t i = 0; i < std::size(kRows); ++i) {
        const std::size_t size =
            kRows[i].path.starts_with('*') ? std::string_view::npos : kRows[i].path.size();
        if (!is_of(path, kRows[i].path) || size <= length) continue;
        best = i;
        length = size;
    }
    return best;
}

}  // namespace

std::vector<Room> rooms_of(std::span<const Page> pages) {
    std::vector<Room> rooms;
    for (const Row& row : kRows)
        if (std::none_of(rooms.begin(), rooms.end(),
                         [&](const Room& room) { return room.name == row.room; }))
            rooms.push_back({std::string(row.room), {}});
    rooms.push_back({std::string(kLast), {}});

    std::vector<std::tuple<std::size_t, std::string, const Page*>> order;
    for (const Page& page : pages) {  // README.md before the others of its folder
        std::string key = page.path;
        if (key.ends_with("README.md")) key.resize(key.size() - 9);
        order.emplace_back(row_of(page.path), key, &page);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [row, key, page] : order) {
        const std::string_view name = row == std::size(kRows) ? kLast : kRows[row].room;
        std::find_if(rooms.begin(), rooms.end(), [&](const Room& room) {
            return room.name == name;
        })->pages.push_back(page);
    }
    std::erase_if(rooms, [](const Room& room) { return room.pages.empty(); });
    return rooms;
}

}  // namespace lockstep::docs
