// SPDX-License-Identifier: Apache-2.0
// What a page asks of a widget, value by value.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace lockstep::lab {

class WidgetRequest {
  public:
    explicit WidgetRequest(const nlohmann::json& json) : json_(json) {}

    // All throw InputError "name: what is wrong". Without the value in the request: the default.
    int whole(const std::string& name, int default_value, int least, int most);
    std::string one_of(const std::string& name, const std::string& default_value,
                       const std::vector<std::string>& known);
    /// Numbers, at least one and at most `most`.
    std::vector<double> numbers(const std::string& name, const std::vector<double>& default_value,
                                std::size_t most);
    std::vector<std::string> texts(const std::string& name, std::size_t most);

    /// Nothing else may be there.
    void finish() const;

  private:
    const nlohmann::json* find(const std::string& name);

    const nlohmann::json& json_;
    std::set<std::string> asked_;
};

}  // namespace lockstep::lab
