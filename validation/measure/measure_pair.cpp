// SPDX-License-Identifier: Apache-2.0
// A pair runs several times: the first time its launches are repeated and its results checked, the
// later times it lies at other addresses, which shows what of its outputs depends on addresses,
// clocks or the order of atomics and so cannot be compared with a model.
#include "validation/measure/measure_pair.h"

#include <algorithm>
#include <filesystem>

#include "sim/error/error.h"
#include "sim/stats/statistics.h"
#include "validation/measure/packed.h"

namespace lockstep::validation {

namespace {

constexpr std::uint64_t kSkippedBytes = (std::uint64_t{6} << 20) + 4096;

bool is_same_launch(const MeasuredLaunch& a, const CudaLaunch& b) {
    return a.file == b.file && a.kernel == b.kernel && a.grid == b.grid && a.block == b.block &&
           a.shared_bytes == b.shared_bytes;
}

void add_first_run(MeasuredPair& measured, const std::vector<CudaLaunch>& launches) {
    for (const CudaLaunch& launch : launches) {
        MeasuredLaunch entry{
            launch.file,    launch.kernel, launch.grid, launch.block,  launch.shared_bytes,
            {launch.first}, launch.cold,   launch.warm, launch.sm_mhz, {}};
        for (const Output& output : launch.outputs) entry.outputs.push_back({output, true});
        measured.launches.push_back(std::move(entry));
    }
}

/// By their hash: equal outputs of several launches are kept once.
void keep_outputs(const std::string& folder, const std::vector<CudaLaunch>& launches) {
    std::filesystem::create_directories(folder);
    for (const CudaLaunch& launch : launches)
        for (const Output& output : launch.outputs) {
            const std::filesystem::path path = output_path(folder, output.sha256);
            if (!output.data.empty() && !std::filesystem::exists(path))
                stats::write_whole(path.string(), pack(output.data));
        }
}

void add_later_run(MeasuredPair& measured, const std::vector<CudaLaunch>& launches) {
    LOCKSTEP_CHECK(launches.size() == measured.launches.size(),
                   "{} launches {} kernels the first time, then {}", measured.workload,
                   measured.launches.size(), launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
        MeasuredLaunch& entry = measured.launches[i];
        LOCKSTEP_CHECK(is_same_launch(entry, launches[i]), "{}: launch {} differs from run to run",
                       measured.workload, i);
        entry.first.push_back(launches[i].first);
        for (MeasuredOutput& output : entry.outputs) {
            const auto same = std::find_if(
                launches[i].outputs.begin(), launches[i].outputs.end(),
                [&](const Output& o) { return o.allocation == output.output.allocation; });
            output.is_reproducible = output.is_reproducible && same != launches[i].outputs.end() &&
                                     same->sha256 == output.output.sha256;
        }
    }
}

}  // namespace

cuda::Outcome run_pair(const std::string& name, std::uint64_t seed, bool verify, Device& device) {
    const std::size_t colon = name.find(':');
    const cuda::Workload& workload = cuda::find_workload(name.substr(0, colon));
    const cuda::Parameters parameters = cuda::parse_parameters(
        workload, colon == std::string::npos ? "" : std::string_view(name).substr(colon + 1));
    return cuda::run_workload(workload, parameters, seed, verify, device);
}

MeasuredPair measure_pair(const PlannedPair& pair, const std::shared_ptr<const Driver>& driver,
                          const std::shared_ptr<const config::Machine>& machine,
                          const MeasureOptions& options) {
    MeasuredPair measured{.group = pair.group, .workload = pair.workload};
    const unsigned runs = pair.times_itself() ? std::max(options.runs, 2u) : 2u;
    for (unsigned i = 0; i < runs; ++i) {
        CudaDeviceOptions device_options = options.device;
        if (i == 0 && !pair.times_itself()) {
            device_options.cold_repeats = options.cold_repeats;
            device_options.warm_repeats = options.warm_repeats;
        }
        device_options.record_outputs = i < 2;
        device_options.has_addresses = pair.times_itself();
        device_options.skip_bytes = i * kSkippedBytes;
        CudaDevice device(driver, machine, device_options);
        if (i == 0) measured.empty_launch = device.empty_launch();
        const cuda::Outcome outcome = run_pair(pair.workload, options.seed, i == 0, device);
        if (i == 0) {
            std::vector<CudaLaunch> launches = device.take_launches();
            if (!options.outputs.empty()) keep_outputs(options.outputs, launches);
            for (CudaLaunch& launch : launches)
                for (Output& output : launch.outputs) output.data.clear();
            add_first_run(measured, launches);
            measured.cubins = device.cubins();
            for (const cuda::CheckRecord& check : outcome.checks)
                measured.checks.push_back(
                    {check.output, check.passed ? "" : check.message, check.passed});
            for (const cuda::Measurement& m : outcome.measurements)
                measured.values.push_back({m.name, m.unit, {m.value}});
            continue;
        }
        std::vector<CudaLaunch> launches = device.take_launches();
        if (i > 1)  // outputs were compared once
            for (std::size_t k = 0; k < launches.size() && k < measured.launches.size(); ++k)
                for (const MeasuredOutput& output : measured.launches[k].outputs)
                    launches[k].outputs.push_back(output.output);
        add_later_run(measured, launches);
        LOCKSTEP_CHECK(outcome.measurements.size() == measured.values.size(),
                       "{} measures other things from run to run", pair.workload);
        for (std::size_t k = 0; k < measured.values.size(); ++k)
            measured.values[k].values.push_back(outcome.measurements[k].value);
    }
    return measured;
}

CountedPair profile_pair(const PlannedPair& pair, Device& device, std::uint64_t seed,
                         const std::function<std::vector<CudaLaunch>()>& take_launches) {
    run_pair(pair.workload, seed, false, device);
    CountedPair counted{pair.workload, {}};
    for (const CudaLaunch& launch : take_launches())
        counted.launches.push_back({launch.kernel, launch.grid, launch.block, {}});
    return counted;
}

}  // namespace lockstep::validation
