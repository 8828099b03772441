// SPDX-License-Identifier: Apache-2.0
// What costs energy: for each kind of machine a table of events, each the counter that says how
// often it happened and the parameters that say what it costs. And what takes area: likewise.
//
// An event has two prices, in picojoules: `control`, paid whatever the values, and `data`, paid in
// proportion to the bits that toggle and given for random values, of which half do. Antepara et al.
// (SC'25, doi 10.1145/3712285.3759815) measured both on A100 and GH200: half to three quarters of
// what moving data costs is paid for zeros too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/machine.h"
#include "sim/config/schema.h"
#include "sim/stats/value.h"

namespace lockstep::energy {

/// What a step counted, and the machine it ran on.
class Counts {
  public:
    Counts(const stats::Metrics& metrics, const config::Machine& machine)
        : metrics_(metrics), machine_(machine) {}
    /// A metric by its name; 0 where the step has none of that name.
    double operator[](std::string_view metric) const;
    bool has(std::string_view metric) const;
    double parameter(std::string_view path) const { return machine_.number(path); }

  private:
    const stats::Metrics& metrics_;
    const config::Machine& machine_;
};

struct Event {
    std::string_view component;  ///< metric: energy.COMPONENT
    std::string_view name;       ///< parameters: energy.NAME.control and energy.NAME.data
    std::string_view meaning;    ///< of one event
    double (*count)(const Counts&);
    /// Metric with the share of bits that toggled from one event to the next, in percent; where a
    /// step has none, values are taken as random (50%).
    std::string_view toggles;
};

/// A part of the chip (metric: area.NAME; parameter: area.NAME, mm2 of one).
struct Part {
    std::string_view name;
    std::string_view meaning;  ///< of one
    double (*count)(const config::Machine&);
};

struct Tables {
    std::span<const Event> events;
    std::span<const Part> parts;
    /// How long a step took; 0 where it was not simulated, or shared the chip with others.
    double (*seconds)(const Counts&) = nullptr;
};

/// The tables of a kind of machine ("gpu", ...); empty ones for a kind that has none.
Tables tables_of(std::string_view kind);

/// The parameters that tables stand on, for the kind's schema: energy.* and area.*. All are
/// optional: a machine without them runs, and only its energy is not known.
std::vector<config::Entry> entries_of(const Tables& tables);

Tables gpu_tables();
Tables npu_tables();
Tables tpu_tables();

}  // namespace lockstep::energy
