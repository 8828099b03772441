// SPDX-License-Identifier: Apache-2.0
// A warp over time: each instruction that it issues, when, for which lanes, with the compiler's
// control bits, and what the warp waited for before. From traces of the cycle model.
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

#include "isa/cubin/cubin.h"
#include "isa/sass/word.h"
#include "sim/error/error.h"
#include "sim/lab/widgets/request.h"
#include "sim/lab/widgets/widgets.h"
#include "sim/stats/find.h"
#include "workloads/cuda/kernel_images.h"
#include "workloads/run/job.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kWarps = 4;

/// A trace of the run, which goes with it.
class TraceFile {
  public:
    explicit TraceFile(const char* ending)
        : path_(fmt::format("{}/lockstep_{}{}", std::filesystem::temp_directory_path().string(),
                            getpid(), ending)) {}
    ~TraceFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

struct Issue {
    std::uint64_t cycle = 0;
    std::uint32_t address = 0, lanes = 0;
    std::string text;
};

std::uint64_t number(std::string_view text, int base = 10) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

/// Fields of a line of a Kanata log are separated by tabs.
std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    for (std::size_t at = 0; at <= line.size();) {
        const std::size_t end = std::min(line.find('\t', at), line.size());
        fields.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    return fields;
}

/// What a warp issues, in order: sim/trace/kanata_writer.cpp writes the log.
std::vector<Issue> read_issues(const std::string& path, unsigned warp) {
    std::vector<Issue> issues;
    std::map<std::string, std::size_t> by_number;
    std::uint64_t now = 0;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::vector<std::string> field = fields_of(line);
        if (field[0] == "C=") now = number(field[1]);
        if (field[0] == "C") now += number(field[1]);
        if (field[0] == "I" && number(field[3]) == warp) {
            by_number[field[1]] = issues.size();
            issues.emplace_back().cycle = now;
        }
        if (field[0] != "L" || !by_number.contains(field[1])) continue;
        Issue& issue = issues[by_number[field[1]]];
        if (field[2] == "0") {  // "0040 IMAD ..."
            const std::size_t space = field[3].find(' ');
            issue.address = static_cast<std::uint32_t>(number(field[3].substr(0, space), 16));
            issue.text = field[3].substr(space + 1);
        } else {  // "mask 0000ffff"
            issue.lanes = static_cast<std::uint32_t>(number(field[3].substr(5), 16));
        }
    }
    return issues;
}

struct Wait {
    std::uint64_t from = 0, cycles = 0;
    std::string state;
};

/// The states of a warp, in order, without the issues between them.
std::vector<Wait> read_waits(const std::string& path, unsigned warp) {
    std::ifstream file(path);
    const auto trace = nlohmann::json::parse(file);
    std::vector<Wait> waits;
    std::map<std::pair<int, int>, std::string> tracks;
    for (const auto& event : trace.at("traceEvents")) {
        const std::string kind = event.at("ph");
        const auto track = [&] {
            return std::pair(event.at("pid").get<int>(), event.at("tid").get<int>());
        };
        if (kind == "M" && event.at("name") == "thread_name") {
            tracks[track()] = event.at("args").at("name");
            continue;
        }
        if (kind != "X" || tracks[track()] != fmt::format("warp {}", warp)) continue;
        const std::string name = event.at("name");
        const bool is_issue = name.size() > 5 && name[4] == ' ' && event.at("dur") == 1 &&
                              name.find_first_not_of("0123456789abcdef") == 4;
        if (!is_issue) waits.push_back({event.at("ts"), event.at("dur"), name});
    }
    return waits;
}

/// Control bits by address.
std::map<std::uint32_t, sass::Control> controls_of(const std::string& kernel, int arch) {
    const cubin::Cubin module = cubin::parse(cuda::kernel_image("divergence", arch), "divergence");
    std::map<std::uint32_t, sass::Control> controls;
    for (const cubin::Function& function : module.functions) {
        if (function.name != kernel) continue;
        for (std::size_t at = 0; at + 16 <= function.code.size(); at += 16) {
            std::uint64_t half[2] = {};
            for (std::size_t byte = 0; byte < 16; ++byte)
                half[byte / 8] |= std::uint64_t{function.code[at + byte]} << 8 * (byte % 8);
            controls[static_cast<std::uint32_t>(at)] = sass::Control::of({half[0], half[1]});
        }
    }
    return controls;
}

Json json_of(const sass::Control& control) {
    const auto barrier = [](std::uint8_t index) {
        return index == sass::Control::kNoBarrier ? Json() : Json(index);
    };
    return {{"stall", control.stall},
            {"yield", control.yield},
            {"write", barrier(control.write_barrier)},
            {"read", barrier(control.read_barrier)},
            {"wait", control.wait_mask},
            {"reuse", control.reuse}};
}

/// What stands between an issue and the one before.
Json waits_before(const std::vector<Wait>& waits, std::uint64_t from, std::uint64_t until) {
    Json list = Json::array();
    for (const Wait& wait : waits)
        if (wait.from >= from && wait.from < until)
            list.push_back(Json::array({wait.state, wait.cycles}));
    return list;
}

}  // namespace

Json warp_over_time(const nlohmann::json& json) {
    WidgetRequest request(json);
    const std::string kind =
        request.one_of("kernel", "sides", {"sides", "warps", "loop", "nested"});
    const int split = request.whole("split", 16, 1, 32), work = request.whole("work", 4, 1, 64);
    const auto warp = static_cast<unsigned>(request.whole("warp", 0, 0, kWarps - 1));
    run::Job job;
    job.machine = request.one_of("machine", "a100", {"a100", "h200"});
    request.finish();
    const std::string kernel = "divergence_" + kind;
    job.what = fmt::format("{}:n={},block={},split={},work={}", kernel, 32 * kWarps, 32 * kWarps,
                           split, work);
    job.quiet = true;
    run::Screen screen;
    const TraceFile instructions(".kanata"), states(".json");
    job.trace_file = instructions.path();
    const run::Outcome outcome = run::run(job, screen);
    job.trace_file = states.path();
    run::run(job, screen);
    const std::vector<Issue> issues = read_issues(instructions.path(), warp);
    const std::vector<Wait> waits = read_waits(states.path(), warp);
    const auto controls =
        controls_of(kernel, static_cast<int>(config::Machine::load(job.machine)->integer("arch")));
    Json list = Json::array();
    std::uint64_t before = 0;
    for (const Issue& issue : issues) {
        Json row = {{"cycle", issue.cycle},
                    {"address", issue.address},
                    {"text", issue.text},
                    {"lanes", issue.lanes},
                    {"waits", waits_before(waits, before, issue.cycle)}};
        if (const auto control = controls.find(issue.address); control != controls.end())
            row["control"] = json_of(control->second);
        list.push_back(std::move(row));
        before = issue.cycle;
    }
    Json metrics;
    for (const char* name :
         {"smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
          "smsp__thread_inst_executed_per_inst_executed.ratio", "sm__cycles_elapsed.max"})
        if (const stats::Value* const value =
                stats::find(outcome.statistics.steps().at(0).metrics, name))
            metrics[name] = value->as_double();
    return {{"kernel", kernel},
            {"machine", job.machine},
            {"issues", std::move(list)},
            {"metrics", metrics}};
}

}  // namespace lockstep::lab
