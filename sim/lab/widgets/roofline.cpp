// SPDX-License-Identifier: Apache-2.0
// The roofs of machines, and where a run stands under them.
#include "sim/lab/widgets/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/data_sheet/data_sheet.h"
#include "sim/error/error.h"
#include "sim/lab/widgets/request.h"
#include "sim/lab/widgets/widgets.h"
#include "workloads/sweep/result.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostMachines = 8;
constexpr double kFused = 2, kSectorBytes = 32;

Json roof_json(const std::string& name, const std::vector<std::string>& settings) {
    const auto machine = config::Machine::load(name, settings);
    const DataSheet sheet = data_sheet(*machine);
    Json peaks = Json::object();
    for (const DataSheet::Peak& peak : sheet.peaks)
        if (peak.operations > 0) peaks[std::string(peak.precision)] = peak.operations;
    return {{"machine", name},
            {"set", settings},
            {"description", machine->description()},
            {"peaks", std::move(peaks)},
            {"bandwidth", sheet.bandwidth}};
}

double metric(const sweep::Result& run, std::string_view name) {
    const auto found = run.metrics.find(name);
    return found == run.metrics.end() ? 0 : found->second;
}

struct Work {
    double operations = 0;
    std::string precision;
};

/// Of a GPU: instructions by precision, and products of the Tensor Cores; of others: products.
Work work_of(const sweep::Result& run) {
    const auto pipe = [&](std::string_view letter) {
        const auto count = [&](std::string_view op) {
            return metric(run, fmt::format("smsp__sass_thread_inst_executed_op_{}{}_pred_on.sum",
                                           letter, op));
        };
        return count("add") + count("mul") + kFused * count("fma");
    };
    Work best{kFused * metric(run, "lockstep__tensor_fma.sum"), "tensor"};
    double all = best.operations;
    for (const auto& [letter, precision] :
         {std::pair{"f", "fp32"}, std::pair{"d", "fp64"}, std::pair{"h", "fp16"}}) {
        const double operations = pipe(letter);
        all += operations;
        if (operations > best.operations) best = {operations, precision};
    }
    if (all == 0) return {kFused * metric(run, "macs"), "products"};
    return {all, best.precision};
}

}  // namespace

Json machine_roofs(const nlohmann::json& json) {
    WidgetRequest request(json);
    const std::vector<std::string> names = request.texts("machines", kMostMachines);
    request.finish();
    Json roofs = Json::array();
    const std::vector<std::string> known = config::Machine::names();
    for (const std::string& name : names) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw InputError(fmt::format("machines: no machine '{}'", name));
        roofs.push_back(roof_json(name, {}));
    }
    return {{"roofs", std::move(roofs)}};
}

Json roofline_point(const std::string& statistics) {
    const auto root = nlohmann::json::parse(statistics);
    const sweep::Result run = sweep::read_statistics(statistics);
    std::vector<std::string> settings;
    if (root.contains("run") && root["run"].contains("set"))
        settings = root["run"]["set"].get<std::vector<std::string>>();
    const Work work = work_of(run);
    const double bytes = metric(run, "dram__bytes.sum") + metric(run, "dram_bytes_read") +
                         metric(run, "dram_bytes_write");
    return {{"roof", roof_json(root.at("machine").get<std::string>(), settings)},
            {"workload", root.at("workload")},
            {"precision", work.precision},
            {"operations", work.operations},
            {"bytes", bytes},
            {"l2_bytes", metric(run, "lts__t_sectors_srcnode_gpc.sum") * kSectorBytes},
            {"seconds", run.seconds},
            {"cycles", run.cycles}};
}

}  // namespace lockstep::lab
