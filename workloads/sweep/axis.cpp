// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "sim/config/units.h"
#include "sim/config/value.h"

namespace lockstep::sweep {

namespace {

constexpr std::size_t kMostValues = 100'000;

/// A number with what stands behind it.
struct Quantity {
    double number = 0;
    std::string unit;
};

class Reader {
  public:
    Reader(const std::string& name, const config::Entry* entry, const config::Place& place)
        : name_(name), entry_(entry), place_(place) {}

    Axis read(const std::vector<std::string>& items) {
        axis_ = {.name = name_,
                 .unit = std::string(entry_ ? entry_->unit : "1"),
                 .place = place_,
                 .is_whole = entry_ == nullptr || entry_->type == config::Type::kInteger};
        for (const std::string& item : items) {
            if (item.empty()) fail("a value is missing");
            if (item.find("..") == std::string::npos || is_text())
                add(item);
            else
                add_range(item, items.size() == 1);
        }
        return axis_;
    }

  private:
    [[noreturn]] void fail(const std::string& message) const {
        config::fail(place_, fmt::format("{}: {}", name_, message));
    }
    bool is_text() const {
        return entry_ &&
               (entry_->type == config::Type::kText || entry_->type == config::Type::kBoolean);
    }

    std::optional<Quantity> quantity(const std::string& text) const {
        double number = 0;
        const char* const last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data(), last, number);
        if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
        std::string unit(end, last);
        unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
        return Quantity{number, unit};
    }
    Quantity wanted_quantity(const std::string& text, const std::string& range) const {
        const auto found = quantity(text);
        if (!found) fail(fmt::format("{}: '{}' is not a number", range, text));
        return *found;
    }

    double canonical(const std::string& text) const {
        double number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }

    void add(const std::string& text) {
        Value value{text, static_cast<double>(axis_.values.size())};
        if (entry_) {
            const std::string checked = config::canonical_setting(*entry_, text, place_);
            if (!is_text()) value.number = canonical(checked);
        } else if (const auto number = quantity(text); number && number->unit.empty()) {
            value.number = number->number;
        }
        for (const Value& other : axis_.values)
            if (other.text == text || (!is_text() && entry_ && other.number == value.number))
                fail(fmt::format("{} stands twice", text));
        axis_.values.push_back(value);
        if (axis_.values.size() > kMostValues)
            fail(fmt::format("more than {} values", kMostValues));
    }

    void add_range(const std::string& range, bool is_alone) {
        const std::size_t first = range.find(".."), second = range.find("..", first + 2);
        const std::string from_text = range.substr(0, first);
        const std::string to_text =
            range.substr(first + 2, second == std::string::npos ? second : second - first - 2);
        const std::string step_text = second == std::string::npos ? "" : range.substr(second + 2);
        const Quantity to = wanted_quantity(to_text, range);
        Quantity from = wanted_quantity(from_text, range);
        if (from.unit.empty()) from.unit = to.unit;  // 16..64MiB
        const double low = in_unit_of(from, from, range), high = in_unit_of(to, from, range);
        if (second == std::string::npos || step_text == "log") {
            if (!is_alone) fail(fmt::format("{}: an interval stands alone", range));
            return make_interval(range, from, low, high, step_text == "log");
        }
        const bool is_power = step_text.starts_with('*');
        const Quantity step = wanted_quantity(step_text.substr(is_power ? 1 : 0), range);
        if (is_power && (step.number <= 1 || low <= 0 || !step.unit.empty()))
            fail(fmt::format("{}: powers need a factor above 1 and a beginning above 0", range));
        const double width = is_power ? 0 : in_unit_of(step, from, range);
        if (!is_power && width <= 0) fail(fmt::format("{}: the step must be above 0", range));
        if (high < low) fail(fmt::format("{}: ends before it begins", range));
        constexpr double kRounding = 1e-9;
        for (int i = 0;; ++i) {
            const double at = is_power ? low * std::pow(step.number, i) : low + i * width;
            if (at > high + kRounding * std::max(std::abs(high), width)) break;
            add(fmt::format("{:.12g}{}", at, from.unit));
        }
    }

    /// The number in the unit of another.
    double in_unit_of(const Quantity& quantity, const Quantity& other,
                      const std::string& range) const {
        const auto factor = [&](const std::string& unit) {
            const std::string& real = unit.empty() ? other.unit : unit;
            const auto found =
                real.empty() ? std::optional(1.0) : config::conversion(real, axis_.unit);
            if (!found)
                fail(fmt::format("{}: unit '{}' where {} is wanted", range, real,
                                 config::units_for(axis_.unit)));
            return *found;
        };
        return quantity.number * factor(quantity.unit) / factor(other.unit);
    }

    void make_interval(const std::string& range, const Quantity& from, double low, double high,
                       bool is_logarithmic) {
        if (high <= low) fail(fmt::format("{}: ends before it begins", range));
        if (is_logarithmic && low <= 0)
            fail(fmt::format("{}: a logarithm needs more than 0", range));
        const auto end = [&](double number) {
            const std::string text = fmt::format("{:.17g}{}", number, from.unit);
            return entry_ ? canonical(config::canonical_setting(*entry_, text, place_)) : number;
        };
        axis_.low = end(low);
        axis_.high = end(high);
        axis_.is_logarithmic = is_logarithmic;
        if (!entry_)
            axis_.is_whole =
                axis_.low == std::floor(axis_.low) && axis_.high == std::floor(axis_.high);
    }

    const std::string& name_;
    const config::Entry* const entry_;
    const config::Place& place_;
    Axis axis_;
};

}  // namespace

Value Axis::at(double share) const {
    if (!is_interval()) {
        const auto count = static_cast<double>(values.size());
        return values[static_cast<std::size_t>(std::min(share * count, count - 1))];
    }
    // Each whole number has a piece of the same size.
    const double last = is_whole ? high + 1 : high;
    double number = is_logarithmic ? low * std::pow(last / low, share) : low + share * (last - low);
    if (is_whole) number = std::min(std::floor(number), high);
    return {is_whole ? fmt::format("{:.0f}", number) : fmt::format("{:.6g}", number), number};
}

Axis parse_axis(const std::string& name, const std::vector<std::string>& items,
                const config::Entry* entry, const config::Place& place) {
    return Reader(name, entry, place).read(items);
}

}  // namespace lockstep::sweep
