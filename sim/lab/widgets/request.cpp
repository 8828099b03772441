// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/widgets/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/value.h"
#include "sim/error/error.h"

namespace lockstep::lab {

const nlohmann::json* WidgetRequest::find(const std::string& name) {
    asked_.insert(name);
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
}

int WidgetRequest::whole(const std::string& name, int default_value, int least, int most) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return default_value;
    if (!value->is_number_integer() || value->get<double>() < least || value->get<double>() > most)
        throw InputError(fmt::format("{}: wanted a whole number of {} to {}", name, least, most));
    return value->get<int>();
}

std::string WidgetRequest::one_of(const std::string& name, const std::string& default_value,
                                  const std::vector<std::string>& known) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return default_value;
    const std::string text = value->is_string() ? value->get<std::string>() : value->dump();
    if (std::find(known.begin(), known.end(), text) == known.end())
        throw InputError(
            fmt::format("{}: unknown '{}'{}", name, text, config::did_you_mean(text, known)));
    return text;
}

std::vector<double> WidgetRequest::numbers(const std::string& name,
                                           const std::vector<double>& default_value,
                                           std::size_t most) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return default_value;
    std::vector<double> numbers;
    if (value->is_array())
        for (const nlohmann::json& item : *value)
            if (item.is_number()) numbers.push_back(item.get<double>());
    if (numbers.empty() || numbers.size() != value->size() || numbers.size() > most)
        throw InputError(fmt::format("{}: wanted a list of 1 to {} numbers", name, most));
    return numbers;
}

std::vector<std::string> WidgetRequest::texts(const std::string& name, std::size_t most) {
    const nlohmann::json* value = find(name);
    std::vector<std::string> texts;
    if (value != nullptr && value->is_array())
        for (const nlohmann::json& item : *value)
            if (item.is_string()) texts.push_back(item.get<std::string>());
    if (texts.empty() || texts.size() != value->size() || texts.size() > most)
        throw InputError(fmt::format("{}: wanted a list of 1 to {} texts", name, most));
    return texts;
}

void WidgetRequest::finish() const {
    const std::vector<std::string> known(asked_.begin(), asked_.end());
    for (const auto& [name, value] : json_.items())
        if (!asked_.contains(name))
            throw InputError(
                fmt::format("unknown '{}'{}", name, config::did_you_mean(name, known)));
}

}  // namespace lockstep::lab
