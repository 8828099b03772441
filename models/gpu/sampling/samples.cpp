// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/samples.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "sim/stats/find.h"

namespace lockstep::gpu {

namespace {

void set(stats::Metrics& metrics, std::string_view name, const stats::Value& value) {
    for (auto& [own, now] : metrics)
        if (own == name) {
            now = value;
            return;
        }
    metrics.emplace_back(std::string(name), value);
}

/// What a profiler calls an elapsed time, and what goes with it.
bool is_time(std::string_view name) {
    return name == "sm__cycles_elapsed.max" || name == "gpu__time_duration.sum" ||
           name == "sm__cycles_active.avg" || name == "smsp__cycles_active.avg";
}

stats::Value scaled(const stats::Value& value, double by) {
    if (value.is_count) return static_cast<std::uint64_t>(std::llround(value.as_double() * by));
    return value.number * by;
}

void set_instructions(LaunchResult& result, std::uint64_t warp, std::uint64_t thread) {
    result.warp_instructions = warp;
    result.thread_instructions = thread;
    set(result.metrics, "smsp__inst_executed.sum", warp);
    set(result.metrics, "smsp__thread_inst_executed_pred_on.sum", thread);
}

}  // namespace

void stretch(LaunchResult& result, double time, double work) {
    result.cycles =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(result.cycles) * time));
    result.seconds *= time;
    for (auto& [name, value] : result.metrics)
        if (is_time(name))
            value = scaled(value, time);
        else if (name.ends_with(".sum"))
            value = scaled(value, work);
}

double sample_error(const LaunchResult& result) {
    return stats::number(result.metrics, kSampleError);
}

void set_sampled(LaunchResult& result, std::uint64_t ctas) {
    set(result.metrics, kSampledCtas, ctas);
}

LaunchResult extrapolated(LaunchResult result, const LaunchResult& rest, std::uint64_t simulated,
                          std::uint64_t ctas, double missing, double uncertainty) {
    const double cycles = static_cast<double>(result.cycles) + missing;
    const std::uint64_t warp = result.warp_instructions + rest.warp_instructions,
                        thread = result.thread_instructions + rest.thread_instructions;
    stretch(result, cycles / static_cast<double>(result.cycles),
            static_cast<double>(ctas) / static_cast<double>(simulated));
    set_instructions(result, warp, thread);
    result.profile = nullptr;
    set(result.metrics, kSampledCtas, simulated);
    set(result.metrics, kSampleError, 100 * uncertainty / cycles);
    return result;
}

std::string Samples::key_of(const LaunchRequest& request, const memory::DeviceMemory& memory) {
    const auto shape = [](const sass::Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); };
    std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}|", request.module, request.kernel,
                                  shape(request.grid), shape(request.block), shape(request.cluster),
                                  request.dynamic_shared_bytes, request.cooperative);
    const std::span<const std::byte> bytes = request.parameters;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
        key += memory.allocation(word).bytes != 0 ? std::string("@,") : fmt::format("{:x},", word);
    }
    return key;
}

const LaunchResult* Samples::find(const std::string& key) const {
    const auto found = results_.find(key);
    return found == results_.end() ? nullptr : &found->second;
}

void Samples::forget(ModuleHandle module) {
    const std::string prefix = fmt::format("{}|", module);
    std::erase_if(results_, [&](const auto& item) { return item.first.starts_with(prefix); });
}

LaunchResult Samples::like(const LaunchResult& known, const LaunchResult& emulated) {
    LaunchResult result = known;
    const double ratio = known.warp_instructions == 0
                             ? 1
                             : static_cast<double>(emulated.warp_instructions) /
                                   static_cast<double>(known.warp_instructions);
    stretch(result, ratio, ratio);
    set_instructions(result, emulated.warp_instructions, emulated.thread_instructions);
    result.profile = nullptr;
    set(result.metrics, kSampledCtas, std::uint64_t{0});
    set(result.metrics, kSampleError,
        stats::number(known.metrics, kSampleError) + 100 * std::abs(ratio - 1));
    return result;
}

}  // namespace lockstep::gpu
