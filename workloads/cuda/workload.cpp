// SPDX-License-Identifier: Apache-2.0
// The registry of built-in workloads and their parameters as a user types them.
#include "workloads/cuda/workload.h"

#include <algorithm>
#include <charconv>

#include "sim/config/key_values.h"
#include "sim/config/nearest.h"
#include "sim/error/error.h"
#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

// "; did you mean 'NAME'?", or "; there are NAME, NAME" where none is near and they are few.
template <class Range>
std::string suggestion(const Range& range, std::string_view wanted) {
    std::vector<std::string> names;
    for (const auto& item : range) names.push_back(item.name);
    const std::string name = config::nearest(wanted, names);
    if (!name.empty()) return fmt::format("; did you mean '{}'?", name);
    constexpr std::size_t kFew = 12;
    return names.empty() || names.size() > kFew
               ? ""
               : fmt::format("; there are {}", fmt::join(names, ", "));
}

}  // namespace

bool Outcome::passed() const {
    return std::all_of(checks.begin(), checks.end(), [](const auto& c) { return c.passed; });
}

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> all = [] {
        std::vector<Workload> list;
        for (const auto& family :
             {elementwise_workloads(), divergence_workloads(), reduction_workloads(),
              gemm_workloads(), micro_workloads(), convolution_workloads(), pooling_workloads(),
              normalisation_workloads(), classification_workloads(), attention_workloads(),
              tensor_copy_workloads(), hopper_gemm_workloads()}) {
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

WorkloadText parse_workload(std::string_view text) {
    constexpr std::pair<std::string_view, std::string_view> kProducts[] = {
        {"fp32", "sgemm"}, {"fp16", "hgemm"}, {"int8", "igemm"}};
    constexpr std::string_view kType = "dtype=";
    const std::size_t colon = std::min(text.find(':'), text.size());
    WorkloadText result{std::string(text.substr(0, colon)), ""};
    std::string_view rest = text.substr(std::min(colon + 1, text.size()));
    if (result.name != kProduct) {
        result.parameters = rest;
        return result;
    }
    std::string_view type = kProducts[0].first;
    bool has_type = false;
    while (!rest.empty()) {
        const std::string_view item = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(item.size() + 1, rest.size()));
        if (!item.starts_with(kType)) {
            result.parameters += (result.parameters.empty() ? "" : ",") + std::string(item);
            continue;
        }
        if (has_type) throw InputError(fmt::format("{}: dtype is given twice", kProduct));
        has_type = true;
        type = item.substr(kType.size());
    }
    for (const auto& [dtype, name] : kProducts)
        if (dtype == type) {
            result.name = name;
            return result;
        }
    throw InputError(
        fmt::format("{}: dtype={}: on a GPU it is fp32, fp16 or int8", kProduct, type));
}

Parameters parse_parameters(const Workload& workload, std::string_view text) {
    Parameters values;
    for (const config::KeyValue& item : config::key_values(text)) {
        const std::string_view key = item.key, value = item.value;
        const auto fail = [&](const std::string& why) {
            throw InputError(
                fmt::format("workload '{}', '{}' (at character {} of its parameters): {}",
                            workload.name, item.text, item.at + 1, why));
        };
        if (item.text.empty() && item.at == text.size())
            fail("expected a parameter after the last comma");
        if (key.empty()) fail("expected key=value");
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
