// SPDX-License-Identifier: Apache-2.0
// The registry of built-in workloads and their parameters as a user types them.
#include "workloads/cuda/workload.h"

#include <algorithm>
#include <charconv>

#include "sim/config/nearest.h"
#include "sim/error/error.h"
#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

// "; did you mean 'NAME'?", or nothing where no name is near.
template <class Range>
std::string suggestion(const Range& range, std::string_view wanted) {
    std::vector<std::string> names;
    for (const auto& item : range) names.push_back(item.name);
    const std::string name = config::nearest(wanted, names);
    return name.empty() ? "" : fmt::format("; did you mean '{}'?", name);
}

}  // namespace

bool Outcome::passed() const {
    return std::all_of(checks.begin(), checks.end(), [](const auto& c) { return c.passed; });
}

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> all = [] {
        std::vector<Workload> list;
        for (const auto& family :
             {elementwise_workloads(), reduction_workloads(), gemm_workloads(), micro_workloads(),
              convolution_workloads(), pooling_workloads(), normalisation_workloads(),
              classification_workloads(), attention_workloads()}) {
            list.insert(list.end(), family.begin(), family.end());
        }
        std::sort(list.begin(), list.end(),
                  [](const Workload& a, const Workload& b) { return a.name < b.name; });
        return list;
    }();
    return all;
}

const Workload& find_workload(std::string_view name) {
    for (const Workload& workload : workloads()) {
        if (workload.name == name) return workload;
    }
    throw InputError(
        fmt::format("there is no workload '{}'{}", name, suggestion(workloads(), name)));
}

Parameters parse_parameters(const Workload& workload, std::string_view text) {
    Parameters values;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view item = text.substr(begin, end - begin);
        const auto fail = [&](const std::string& why) {
            throw InputError(
                fmt::format("workload '{}', '{}' (at character {} of its parameters): {}",
                            workload.name, item, begin + 1, why));
        };
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) fail("expected key=value");
        const std::string_view key = item.substr(0, equals), value = item.substr(equals + 1);
        const auto info = std::find_if(workload.parameters.begin(), workload.parameters.end(),
                                       [&](const ParameterInfo& p) { return p.name == key; });
        if (info == workload.parameters.end()) {
            fail("no such parameter" + suggestion(workload.parameters, key));
        }
        std::int64_t number = 0;
        const auto [stop, error] =
            std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || stop != value.data() + value.size()) {
            fail("the value is not an integer");
        }
        if (number < info->minimum || number > info->maximum) {
            fail(fmt::format("the value must be from {} to {}", info->minimum, info->maximum));
        }
        if (!values.emplace(key, number).second) fail("the parameter is given twice");
        if (end + 1 == text.size()) fail("expected a parameter after the last comma");
        begin = end + 1;
    }
    for (const ParameterInfo& info : workload.parameters) {
        values.emplace(info.name, info.default_value);
    }
    return values;
}

Outcome run_workload(const Workload& workload, const Parameters& parameters, std::uint64_t seed,
                     bool verify, Device& device) {
    Run run(workload.name, parameters, seed, verify, device);
    workload.body(run);
    return run.take_outcome();
}

}  // namespace lockstep::cuda
