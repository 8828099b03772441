// SPDX-License-Identifier: Apache-2.0
// A machine: a modelled chip with all its parameters, read from one YAML file. Every parameter has
// a value, a unit, a range and the evidence for the value.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/place.h"

namespace lockstep::config {

/// Where a value comes from: "measured: ...", "published: ..." or "assumed: ...".
struct Parameter {
    std::string path;   ///< dotted, as `sm.count`
    std::string value;  ///< as written (or overridden)
    std::string unit;   ///< "1" where it is a pure number
    std::string evidence;
    std::string meaning;  ///< one line, from the schema
};

class Machine {
  public:
    using Parameters = std::map<std::string, Parameter, std::less<>>;
    using Paths = std::set<std::string, std::less<>>;

    /// Reads a built-in machine by name, or a file by path (ending in .yaml). Throws InputError
    /// with file, line and the nearest key on unknown keys, wrong types, units and out-of-range
    /// values.
    static std::shared_ptr<const Machine> load(const std::string& name_or_path,
                                               const std::vector<std::string>& overrides = {});
    static std::vector<std::string> names();
    /// Names of the built-in GPUs, each with its arch (90: sm_90).
    static std::vector<std::pair<std::string, int>> gpus();

    const std::string& name() const { return name_; }
    const std::string& kind() const { return kind_; }  ///< "gpu", "tpu", "npu", "systolic"
    const std::string& description() const { return description_; }

    // Typed access; the schema guarantees presence and type for a machine of its kind, so a wrong
    // path is our bug (InternalError).
    std::int64_t integer(std::string_view path) const;
    double number(std::string_view path) const;
    const std::string& text(std::string_view path) const;
    bool boolean(std::string_view path) const;
    /// Whether an optional parameter was given.
    bool has(std::string_view path) const;

    /// All parameters, sorted by path.
    std::vector<Parameter> parameters() const;

  private:
    /// `wanted_by`: where a machine file names it as its base.
    void read(const std::string& name_or_path, const Place& wanted_by, int depth);
    /// Which parameter it was.
    std::string override_parameter(const std::string& text);
    /// Lets parameters follow those that were set over `before`.
    void settle(const Parameters& before, const Paths& set, const Place& place);

    std::string name_, kind_, description_;
    Parameters parameters_;
};

}  // namespace lockstep::config
