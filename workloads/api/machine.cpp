// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "sim/config/value.h"
#include "sim/stats/version.h"
#include "workloads/api/impl.h"

namespace lockstep::api {

std::string version() {
    return std::string(stats::version());
}

std::string commit() {
    return std::string(stats::commit());
}

Error::Error(int status, const std::string& text) : std::runtime_error(text), status_(status) {}

Error::~Error() = default;

Machine::Machine(const std::string& name_or_file, const std::vector<std::string>& overrides)
    : impl_(guarded([&] {
          return std::make_shared<const Impl>(
              Impl{name_or_file, overrides, config::Machine::load(name_or_file, overrides)});
      })) {}

std::vector<std::string> Machine::names() {
    return config::Machine::names();
}

std::string Machine::name() const {
    return impl_->machine->name();
}

std::string Machine::kind() const {
    return impl_->machine->kind();
}

std::string Machine::description() const {
    return impl_->machine->description();
}

std::vector<Parameter> Machine::parameters() const {
    std::vector<Parameter> list;
    for (const config::Parameter& p : impl_->machine->parameters())
        list.push_back({p.path, p.value, p.unit, p.evidence, p.meaning});
    return list;
}

std::string Machine::text(std::string_view path) const {
    std::vector<std::string> paths;
    for (const config::Parameter& p : impl_->machine->parameters()) {
        if (p.path == path) return p.value;
        paths.push_back(p.path);
    }
    throw Error(
        static_cast<int>(ExitStatus::kInputError),
        fmt::format("{}: unknown parameter {}{}", name(), path, config::did_you_mean(path, paths)));
}

double Machine::number(std::string_view path) const {
    const std::string value = text(path);
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size())
        throw Error(static_cast<int>(ExitStatus::kInputError),
                    fmt::format("{}: {} is no number: {}", name(), path, value));
    return number;
}

}  // namespace lockstep::api
