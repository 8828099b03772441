// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/result.h"

#include <nlohmann/json.hpp>

#include "sim/error/error.h"

namespace lockstep::sweep {

namespace {

using Json = nlohmann::json;

/// What a step's means are weighted with.
double weight_of(const Json& metrics) {
    for (const char* name : {"sm__cycles_elapsed.max", "cycles"})
        if (const auto found = metrics.find(name); found != metrics.end() && found->is_number())
            return std::max(found->get<double>(), 1.0);
    return 1;
}

bool is_sum(const std::string& name, const Json& value) {
    return value.is_number_integer() || name.ends_with(".sum");
}

void add_steps(const Json& steps, Result& result) {
    std::map<std::string, double> weights;  // of means
    for (const Json& step : steps) {
        const Json& metrics = step.at("metrics");
        const double weight = weight_of(metrics);
        for (const auto& [name, value] : metrics.items()) {
            if (!value.is_number()) continue;
            const bool sum = is_sum(name, value);
            result.metrics[name] += value.get<double>() * (sum ? 1 : weight);
            if (!sum) weights[name] += weight;
        }
    }
    for (const auto& [name, weight] : weights) result.metrics[name] /= weight;
}

}  // namespace

Result read_statistics(std::string_view json) {
    Result result;
    try {
        const Json root = Json::parse(json);
        add_steps(root.at("steps"), result);
        for (const auto& [name, value] : root.at("totals").items()) {
            if (name == "cycles")
                result.cycles = value.get<std::uint64_t>();
            else if (name == "seconds")
                result.seconds = value.get<double>();
            else if (value.is_number())
                result.metrics[name] = value.get<double>();
        }
    } catch (const Json::exception& error) {
        throw InputError(fmt::format("not a statistics file: {}", error.what()));
    }
    result.status = Status::kDone;
    return result;
}

std::string metrics_json(const Result& result) {
    return Json(result.metrics).dump();
}

void read_metrics(std::string_view json, Result& result) {
    try {
        result.metrics = Json::parse(json).get<decltype(result.metrics)>();
    } catch (const Json::exception& error) {
        throw InputError(fmt::format("metrics of a point: {}", error.what()));
    }
}

}  // namespace lockstep::sweep
