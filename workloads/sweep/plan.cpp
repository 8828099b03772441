// SPDX-License-Identifier: Apache-2.0
// The points of each design. Latin hypercube: McKay, Beckman and Conover 1979. Sobol: the matrices
// A, B and A with a column of B, as Saltelli et al. 2010 (doi 10.1016/j.cpc.2009.09.018) use them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/config/value.h"
#include "sim/error/error.h"
#include "sim/numerics/random.h"
#include "workloads/sweep/names.h"
#include "workloads/sweep/point.h"

namespace lockstep::sweep {

namespace {

constexpr std::size_t kMostPoints = 10'000'000;
/// Draws for one random sample before constraints are taken to leave nothing.
constexpr int kMostDraws = 10'000;

using Shares = std::vector<double>;  ///< of each axis, [0, 1)

double unit(numerics::Random& random) {
    return static_cast<double>(random.bits() >> 11) * 0x1p-53;
}

class Planner {
  public:
    explicit Planner(const Study& study) : study_(study) {}

    Plan make() {
        for (std::size_t w = 0; w < study_.workloads.size(); ++w)
            for (std::size_t m = 0; m < study_.machines.size(); ++m) {
                base_.workload = w;
                base_.machine = m;
                add_design();
            }
        if (plan_.points.empty())
            throw InputError(
                fmt::format("no point is left: the constraints exclude all {}", plan_.excluded));
        return std::move(plan_);
    }

  private:
    void add_design() {
        // The same samples of each workload and machine: they can be compared.
        numerics::Random random(numerics::mix(study_.seed ^ 0x5eed'57ee'9000'0001u));
        switch (study_.design) {
            case Design::kGrid:
                return add_grid();
            case Design::kOneAtATime:
                return add_one_at_a_time();
            case Design::kRandom:
                return add_random(random);
            case Design::kLatinHypercube:
                return add_latin_hypercube(random);
            case Design::kSobol:
                return add_sobol(random);
        }
    }

    /// Where the point is among the plan's; nothing where it is not allowed.
    std::optional<std::size_t> add(std::vector<Value> values) {
        Point point = base_;
        point.values = std::move(values);
        if (!is_allowed(study_, point)) {
            ++plan_.excluded;
            return std::nullopt;
        }
        point.key = key_of(study_, point);
        const auto [found, is_new] = places_.emplace(point.key, plan_.points.size());
        if (is_new) plan_.points.push_back(std::move(point));
        if (plan_.points.size() > kMostPoints)
            throw InputError(fmt::format("more than {} points", kMostPoints));
        return found->second;
    }

    std::optional<std::size_t> add_shares(const Shares& shares) {
        std::vector<Value> values;
        for (std::size_t i = 0; i < shares.size(); ++i)
            values.push_back(study_.axes[i].at(shares[i]));
        return add(std::move(values));
    }

    void add_grid() {
        std::vector<std::size_t> at(study_.axes.size(), 0);
        while (true) {
            std::vector<Value> values;
            for (std::size_t i = 0; i < at.size(); ++i)
                values.push_back(study_.axes[i].values[at[i]]);
            add(std::move(values));
            std::size_t axis = at.size();
            while (axis > 0 && ++at[axis - 1] == study_.axes[axis - 1].values.size())
                at[--axis] = 0;
            if (axis == 0) return;
        }
    }

    void add_one_at_a_time() {
        std::vector<Value> base;
        for (const Axis& axis : study_.axes) base.push_back(base_value(study_, base_, axis));
        add(base);
        for (std::size_t i = 0; i < base.size(); ++i)
            for (const Value& value : study_.axes[i].values) {
                std::vector<Value> values = base;
                values[i] = value;
                add(std::move(values));
            }
    }

    void add_random(numerics::Random& random) {
        for (std::uint64_t sample = 0; sample < study_.samples; ++sample)
            for (int draw = 0;; ++draw) {
                Shares shares(study_.axes.size());
                for (double& share : shares) share = unit(random);
                if (add_shares(shares) || draw == kMostDraws) break;
            }
    }

    void add_latin_hypercube(numerics::Random& random) {
        std::vector<Shares> samples(study_.samples, Shares(study_.axes.size()));
        std::vector<std::uint64_t> order(study_.samples);
        for (std::size_t axis = 0; axis < study_.axes.size(); ++axis) {
            std::iota(order.begin(), order.end(), 0u);
            for (std::size_t i = order.size(); i > 1; --i)
                std::swap(order[i - 1], order[random.bits() % i]);
            for (std::size_t i = 0; i < samples.size(); ++i)
                samples[i][axis] = (static_cast<double>(order[i]) + unit(random)) /
                                   static_cast<double>(study_.samples);
        }
        for (const Shares& shares : samples) add_shares(shares);
    }

    void add_sobol(numerics::Random& random) {
        const std::size_t axes = study_.axes.size();
        std::vector<Shares> a(study_.samples, Shares(axes)), b = a;
        for (auto* matrix : {&a, &b})
            for (Shares& row : *matrix)
                for (double& share : row) share = unit(random);
        std::vector<std::size_t>& rows = plan_.sobol.emplace_back();
        for (const auto* matrix : {&a, &b})
            for (const Shares& row : *matrix) rows.push_back(*add_shares(row));
        for (std::size_t axis = 0; axis < axes; ++axis)
            for (std::size_t i = 0; i < a.size(); ++i) {
                Shares row = a[i];
                row[axis] = b[i][axis];
                rows.push_back(*add_shares(row));
            }
    }

    const Study& study_;
    Plan plan_;
    Point base_;
    std::map<std::string, std::size_t> places_;  // by key
};

}  // namespace

Value base_value(const Study& study, const Point& point, const Axis& axis) {
    if (axis.is_of_workload()) return axis.values.front();
    const std::string& text = study.machines[point.machine].machine->text(axis.name);
    const Axis own =
        parse_axis(axis.name, {text},
                   &config::find_entry(
                       config::find_kind(study.machines[point.machine].machine->kind())->entries,
                       axis.name, axis.place),
                   axis.place);
    for (const Value& value : axis.values)
        if (value.text == text || (axis.unit != "1" && value.number == own.values[0].number))
            return value;
    return own.values[0];
}

Plan make_plan(const Study& study) {
    return Planner(study).make();
}

}  // namespace lockstep::sweep
