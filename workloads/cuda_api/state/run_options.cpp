// SPDX-License-Identifier: Apache-2.0
// The runtime library is loaded by the program's own dynamic linker, so the command line reaches it
// through the environment. Paths are handed over as they are: the program's directory is the CLI's.
#include "workloads/cuda_api/state/run_options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "sim/error/error.h"

namespace lockstep::cuda {
namespace {

std::string variable(const char* name, const std::string& otherwise) {
    const char* value = std::getenv(name);
    return value ? value : otherwise;
}

std::uint64_t number(const char* name, std::uint64_t otherwise) {
    const char* value = std::getenv(name);
    if (!value) return otherwise;
    const std::string_view text = value;
    std::uint64_t result = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size())
        throw InputError(fmt::format("{}={}: not a number", name, text));
    return result;
}

std::vector<std::string> lines(const char* name) {
    const std::string text = variable(name, "");
    std::vector<std::string> list;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (end > begin) list.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return list;
}

std::string text_of(const std::vector<std::string>& list) {
    std::string text;
    for (const std::string& line : list) text += line + "\n";
    return text;
}

}  // namespace

RunOptions RunOptions::from_environment() {
    RunOptions options;
    options.machine = variable("LOCKSTEP_MACHINE", options.machine);
    options.mode = variable("LOCKSTEP_MODE", options.mode);
    if (options.mode != "cycle" && options.mode != "emulate")
        throw InputError(
            fmt::format("LOCKSTEP_MODE={}: the modes are cycle and emulate", options.mode));
    options.overrides = lines("LOCKSTEP_SET");
    options.options = lines("LOCKSTEP_OPTIONS");
    options.screen_file = variable("LOCKSTEP_SCREEN", "");
    const std::uint64_t threads = number("LOCKSTEP_THREADS", options.threads);
    if (threads == 0 || threads > 1024)
        throw InputError(fmt::format("LOCKSTEP_THREADS={}: must be 1 to 1024", threads));
    options.threads = static_cast<unsigned>(threads);
    options.seed = number("LOCKSTEP_SEED", options.seed);
    options.max_instructions = number("LOCKSTEP_MAX_INSTRUCTIONS", options.max_instructions);
    options.stats_file = variable("LOCKSTEP_STATS", "");
    options.bounds = variable("LOCKSTEP_BOUNDS", options.bounds);
    if (options.bounds != "exact" && options.bounds != "page")
        throw InputError(
            fmt::format("LOCKSTEP_BOUNDS={}: bounds are exact or page", options.bounds));
    options.l2 = variable("LOCKSTEP_L2", options.l2);
    if (options.l2 != "cold" && options.l2 != "warm")
        throw InputError(fmt::format("LOCKSTEP_L2={}: an L2 is cold or warm", options.l2));
    options.sample = variable("LOCKSTEP_SAMPLE", "") == "1";
    options.kernel = variable("LOCKSTEP_KERNEL", "");
    options.launch_skip = number("LOCKSTEP_LAUNCH_SKIP", options.launch_skip);
    options.launch_count = number("LOCKSTEP_LAUNCH_COUNT", options.launch_count);
    options.trace_file = variable("LOCKSTEP_TRACE", "");
    options.trace_window = variable("LOCKSTEP_TRACE_WINDOW", "");
    options.trace_sms = variable("LOCKSTEP_TRACE_SMS", "");
    options.checks = variable("LOCKSTEP_CHECK", "");
    options.energy = variable("LOCKSTEP_ENERGY", "") == "1";
    options.workload = variable("LOCKSTEP_WORKLOAD", "");
    options.source = variable("LOCKSTEP_SOURCE", "") == "1";
    options.quiet = variable("LOCKSTEP_QUIET", "") == "1";
    return options;
}

std::vector<std::pair<std::string, std::string>> RunOptions::to_environment() const {
    return {{"LOCKSTEP_MACHINE", machine},
            {"LOCKSTEP_MODE", mode},
            {"LOCKSTEP_SET", text_of(overrides)},
            {"LOCKSTEP_OPTIONS", text_of(options)},
            {"LOCKSTEP_SCREEN", screen_file},
            {"LOCKSTEP_THREADS", std::to_string(threads)},
            {"LOCKSTEP_SEED", std::to_string(seed)},
            {"LOCKSTEP_MAX_INSTRUCTIONS", std::to_string(max_instructions)},
            {"LOCKSTEP_STATS", stats_file},
            {"LOCKSTEP_BOUNDS", bounds},
            {"LOCKSTEP_L2", l2},
            {"LOCKSTEP_SAMPLE", sample ? "1" : "0"},
            {"LOCKSTEP_KERNEL", kernel},
            {"LOCKSTEP_LAUNCH_SKIP", std::to_string(launch_skip)},
            {"LOCKSTEP_LAUNCH_COUNT", std::to_string(launch_count)},
            {"LOCKSTEP_TRACE", trace_file},
            {"LOCKSTEP_TRACE_WINDOW", trace_window},
            {"LOCKSTEP_TRACE_SMS", trace_sms},
            {"LOCKSTEP_CHECK", checks},
            {"LOCKSTEP_ENERGY", energy ? "1" : "0"},
            {"LOCKSTEP_WORKLOAD", workload},
            {"LOCKSTEP_SOURCE", source ? "1" : "0"},
            {"LOCKSTEP_QUIET", quiet ? "1" : "0"}};
}

}  // namespace lockstep::cuda
