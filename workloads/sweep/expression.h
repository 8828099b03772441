// SPDX-License-Identifier: Apache-2.0
// Formulas over names: constraints between parameters, objectives made of metrics. Numbers may
// bear a unit of machine files (50MiB, 1.5GHz) and are then in its canonical unit.
//   or:  a || b    and: a && b    compare: < <= > >= == !=    + - * /    -a !a
//   min(a, b) max(a, b) log2(a) sqrt(a) abs(a)    names: letters, digits, _ and .
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/place.h"

namespace lockstep::sweep {

class Expression {
  public:
    using Lookup = std::function<std::optional<double>(std::string_view name)>;

    /// Throws InputError with the place, the column and what was wanted.
    Expression(std::string text, const config::Place& place);

    /// Nothing where a name has no value, or the result is no number. True is 1, false 0.
    std::optional<double> evaluate(const Lookup& lookup) const;

    /// Each once, in the order of their first use.
    const std::vector<std::string>& names() const { return names_; }
    const std::string& text() const { return text_; }
    const config::Place& place() const { return place_; }

  private:
    class Parser;
    enum class Op : unsigned char {
        kNumber,
        kName,
        kNegate,
        kNot,
        kAdd,
        kSubtract,
        kMultiply,
        kDivide,
        kLess,
        kLessEqual,
        kGreater,
        kGreaterEqual,
        kEqual,
        kUnequal,
        kAnd,
        kOr,
        kMinimum,
        kMaximum,
        kLog2,
        kRoot,
        kAbsolute
    };
    /// Operands stand before their operation.
    struct Step {
        Op op;
        double number = 0;
        std::size_t name = 0;
    };
    static double apply(Op op, double a, double b);

    std::string text_;
    config::Place place_;
    std::vector<std::string> names_;
    std::vector<Step> steps_;
};

}  // namespace lockstep::sweep
