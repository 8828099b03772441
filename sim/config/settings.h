// SPDX-License-Identifier: Apache-2.0
// What was set over a machine, for a kind's settle(): parameters that say the same as one that was
// set follow it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sim/config/machine.h"

namespace lockstep::config {

class Settings {
  public:
    /// `set`: paths that were set over `before`; nothing where the machine is based on no other.
    Settings(const Machine& machine, Place place, const Machine::Parameters& before,
             const Machine::Paths& set, Machine::Parameters& now)
        : machine_(machine), place_(std::move(place)), before_(before), set_(set), now_(now) {}

    bool is_set(std::string_view path) const { return set_.contains(path); }
    double number(std::string_view path) const { return machine_.number(path); }
    double number_before(std::string_view path) const;
    const std::string& text(std::string_view path) const { return machine_.text(path); }

    /// Lets the parameter follow `cause`, which was set. The value is checked as one in a file is.
    void follow(std::string_view path, double value, std::string_view cause);
    void follow(std::string_view path, const std::string& text, std::string_view cause);
    [[noreturn]] void refuse(const std::string& reason) const;

  private:
    const Machine& machine_;
    const Place place_;
    const Machine::Parameters& before_;
    const Machine::Paths& set_;
    Machine::Parameters& now_;
};

}  // namespace lockstep::config
