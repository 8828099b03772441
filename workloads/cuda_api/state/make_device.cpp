// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/state/make_device.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "models/device_group.h"

namespace lockstep::cuda {
namespace {

/// "FROM<separator>TO", where both may be left out; a single number is both where that is allowed.
template <typename Number>
void parse_range(const char* option, std::string_view text, char separator, Number& from,
                 Number& to) {
    const auto wrong = [&]() -> InputError {
        return InputError(fmt::format("{} {}: wanted FROM{}TO", option, text, separator));
    };
    const auto parse = [&](std::string_view digits, Number& value) {
        if (digits.empty()) return;
        const char* const end = digits.data() + digits.size();
        const auto [at, error] = std::from_chars(digits.data(), end, value);
        if (error != std::errc{} || at != end) throw wrong();
    };
    const std::size_t middle = text.find(separator);
    parse(text.substr(0, middle), from);
    if (middle == std::string_view::npos)
        to = from;
    else
        parse(text.substr(middle + 1), to);
    if (to < from) throw wrong();
}

TraceOptions trace_options(const RunOptions& options) {
    TraceOptions trace;
    trace.file = options.trace_file;
    if (trace.file.empty()) {
        if (!options.trace_window.empty() || !options.trace_sms.empty())
            throw InputError("--trace-window and --trace-sms need --trace FILE");
        return trace;
    }
    if (options.mode != "cycle") throw InputError("--trace needs --mode cycle");
    if (!trace.file.ends_with(".json") && !trace.file.ends_with(".kanata") &&
        !trace.file.ends_with(".vcd"))
        throw InputError(fmt::format("{}: a trace ends in .json, .vcd or .kanata", trace.file));
    if (!options.trace_window.empty()) {
        if (options.trace_window.find(':') == std::string::npos)
            throw InputError(
                fmt::format("--trace-window {}: wanted FROM:TO, in cycles", options.trace_window));
        parse_range("--trace-window", options.trace_window, ':', trace.from, trace.until);
    }
    if (!options.trace_sms.empty())
        parse_range("--trace-sms", options.trace_sms, '-', trace.first_sm, trace.last_sm);
    return trace;
}

/// race,init,sync,hazards
unsigned checks_of(const RunOptions& options) {
    constexpr std::pair<std::string_view, unsigned> kChecks[] = {{"race", kCheckRace},
                                                                 {"init", kCheckInit},
                                                                 {"sync", kCheckSync},
                                                                 {"hazards", kCheckHazards}};
    if (options.checks.empty()) return 0;
    unsigned checks = 0;
    std::string_view rest = options.checks;
    while (true) {
        const std::string_view name = rest.substr(0, rest.find(','));
        const auto check = std::find_if(std::begin(kChecks), std::end(kChecks),
                                        [&](const auto& c) { return c.first == name; });
        if (check == std::end(kChecks))
            throw InputError(
                fmt::format("--check {}: '{}' is none of the checks race, init, sync, "
                            "hazards",
                            options.checks, name));
        checks |= check->second;
        if (name.size() == rest.size()) break;
        rest.remove_prefix(name.size() + 1);
    }
    if (options.mode != "emulate")
        throw InputError("--check needs --mode emulate: the cycle model checks nothing");
    return checks;
}

}  // namespace

DeviceOptions device_options(const RunOptions& options) {
    if (options.mode != "cycle" && options.l2 != "cold")
        throw InputError("--l2 needs --mode cycle: emulation has no caches");
    if (options.mode != "cycle" && options.sample)
        throw InputError("--sample needs --mode cycle: emulation has no time");
    for (const auto& [is_asked_for, option] :
         {std::pair{options.source, "--source"}, {!options.trace_file.empty(), "--trace"}})
        if (options.sample && is_asked_for)
            throw InputError(
                fmt::format("{} shows all of a launch, --sample simulates a part of it", option));
    const LaunchFilter filter{options.kernel, options.launch_skip, options.launch_count};
    if (options.mode != "cycle" && filter != LaunchFilter{})
        throw InputError(
            "--kernel, --launch-skip and --launch-count choose what is simulated: "
            "they need --mode cycle");
    check_filter(filter);
    return {.threads = options.threads,
            .max_instructions = options.max_instructions,
            .seed = options.seed,
            .progress = !options.quiet,
            .bounds = options.bounds == "page" ? Bounds::kPage : Bounds::kExact,
            .checks = checks_of(options),
            .l2 = options.l2 == "warm" ? L2Start::kWarm : L2Start::kCold,
            .count_toggles = options.energy,
            .trace = trace_options(options),
            .simulate = filter,
            .counts_instructions = options.source,
            .samples = options.sample};
}

std::shared_ptr<const config::Machine> load_machine(const RunOptions& options) {
    auto machine = config::Machine::load(options.machine, options.overrides);
    if (machine->kind() != "gpu")
        throw InputError(fmt::format("{} is a {}, which cannot run {}", machine->name(),
                                     machine->kind(), options.workload));
    return machine;
}

std::unique_ptr<Device> make_device(const RunOptions& options) {
    const DeviceOptions device = device_options(options);
    const auto machine = load_machine(options);
    const bool in_cycles = options.mode != "emulate";
    if (machine->integer("system.devices") > 1)
        return make_device_group(machine, device, in_cycles);
    return in_cycles ? make_simulator(machine, device) : make_emulator(machine, device);
}

}  // namespace lockstep::cuda
