// SPDX-License-Identifier: Apache-2.0
// Recursive descent into reverse Polish steps.
#include "workloads/sweep/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/config/units.h"

namespace lockstep::sweep {

namespace {

constexpr int kMaximumDepth = 200;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

class Expression::Parser {
  public:
    explicit Parser(Expression& into) : into_(into), text_(into.text_) {}

    void parse() {
        expression(0);
        skip_spaces();
        if (at_ != text_.size()) fail("an operator");
    }

  private:
    struct Operator {
        std::string_view sign;
        Op op;
        int level;
    };
    // Longer signs first.
    static constexpr Operator kOperators[] = {
        {"||", Op::kOr, 0},      {"&&", Op::kAnd, 1},       {"==", Op::kEqual, 2},
        {"!=", Op::kUnequal, 2}, {"<=", Op::kLessEqual, 2}, {">=", Op::kGreaterEqual, 2},
        {"<", Op::kLess, 2},     {">", Op::kGreater, 2},    {"+", Op::kAdd, 3},
        {"-", Op::kSubtract, 3}, {"*", Op::kMultiply, 4},   {"/", Op::kDivide, 4},
    };
    struct Function {
        std::string_view name;
        Op op;
        int operands;
    };
    static constexpr Function kFunctions[] = {{"min", Op::kMinimum, 2},
                                              {"max", Op::kMaximum, 2},
                                              {"log2", Op::kLog2, 1},
                                              {"sqrt", Op::kRoot, 1},
                                              {"abs", Op::kAbsolute, 1}};

    [[noreturn]] void fail(std::string_view wanted) const {
        config::fail(into_.place_,
                     fmt::format("'{}': column {}: wanted {}", text_, at_ + 1, wanted));
    }
    void skip_spaces() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    bool take(std::string_view sign) {
        skip_spaces();
        if (!std::string_view(text_).substr(at_).starts_with(sign)) return false;
        at_ += sign.size();
        return true;
    }
    void expect(std::string_view sign) {
        if (!take(sign)) fail(fmt::format("'{}'", sign));
    }
    void emit(Op op) { into_.steps_.push_back({op}); }

    void expression(int level) {
        constexpr int kUnary = 5;
        if (level == kUnary) return unary();
        expression(level + 1);
        while (true) {
            const auto found = std::ranges::find_if(kOperators, [&](const Operator& candidate) {
                return candidate.level == level && take(candidate.sign);
            });
            if (found == std::end(kOperators)) return;
            expression(level + 1);
            emit(found->op);
        }
    }

    void unary() {
        if (++depth_ > kMaximumDepth) fail("fewer parentheses");
        if (take("-")) {
            unary();
            emit(Op::kNegate);
        } else if (take("!")) {
            unary();
            emit(Op::kNot);
        } else {
            primary();
        }
        --depth_;
    }

    void primary() {
        skip_spaces();
        if (take("(")) {
            expression(0);
            return expect(")");
        }
        if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) return number();
        if (at_ < text_.size() && is_letter(text_[at_])) return name();
        fail("a number, a name or '('");
    }

    void number() {
        double value = 0;
        const char* const begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{}) fail("a number");
        at_ += static_cast<std::size_t>(end - begin);
        std::size_t last = at_;
        while (last < text_.size() && is_letter(text_[last])) ++last;
        if (last != at_) {
            // GB/s is a unit, GB / s a quotient.
            if (text_.compare(last, 2, "/s") == 0 &&
                (last + 2 == text_.size() || !is_letter(text_[last + 2])))
                last += 2;
            const std::string unit = text_.substr(at_, last - at_);
            const auto factor = config::to_canonical(unit);
            if (!factor) fail(fmt::format("a unit of machine files in place of '{}'", unit));
            value *= *factor;
            at_ = last;
        }
        into_.steps_.push_back({Op::kNumber, value});
    }

    void name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() &&
               (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.'))
            ++at_;
        const std::string name = text_.substr(begin, at_ - begin);
        skip_spaces();
        if (at_ < text_.size() && text_[at_] == '(') {
            const auto function = std::ranges::find(kFunctions, name, &Function::name);
            if (function == std::end(kFunctions)) {
                at_ = begin;
                fail("min, max, log2, sqrt or abs");
            }
            expect("(");
            for (int i = 0; i < function->operands; ++i) {
                if (i > 0) expect(",");
                expression(0);
            }
            expect(")");
            return emit(function->op);
        }
        auto& names = into_.names_;
        const auto found = std::ranges::find(names, name);
        const auto index = static_cast<std::size_t>(found - names.begin());
        if (found == names.end()) names.push_back(name);
        into_.steps_.push_back({Op::kName, 0, index});
    }

    Expression& into_;
    const std::string& text_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

Expression::Expression(std::string text, const config::Place& place)
    : text_(std::move(text)), place_(place) {
    Parser(*this).parse();
}

double Expression::apply(Op op, double a, double b) {
    switch (op) {
        case Op::kAdd:
            return a + b;
        case Op::kSubtract:
            return a - b;
        case Op::kMultiply:
            return a * b;
        case Op::kDivide:
            return a / b;
        case Op::kLess:
            return a < b;
        case Op::kLessEqual:
            return a <= b;
        case Op::kGreater:
            return a > b;
        case Op::kGreaterEqual:
            return a >= b;
        case Op::kEqual:
            return a == b;
        case Op::kUnequal:
            return a != b;
        case Op::kAnd:
            return a != 0 && b != 0;
        case Op::kOr:
            return a != 0 || b != 0;
        case Op::kMinimum:
            return std::min(a, b);
        case Op::kMaximum:
            return std::max(a, b);
        case Op::kNegate:
            return -a;
        case Op::kNot:
            return a == 0;
        case Op::kLog2:
            return std::log2(a);
        case Op::kRoot:
            return std::sqrt(a);
        default:
            return std::abs(a);
    }
}

std::optional<double> Expression::evaluate(const Lookup& lookup) const {
    std::vector<double> stack;
    for (const Step& step : steps_) {
        if (step.op == Op::kNumber) {
            stack.push_back(step.number);
        } else if (step.op == Op::kName) {
            const auto value = lookup(names_[step.name]);
            if (!value) return std::nullopt;
            stack.push_back(*value);
        } else {
            const bool is_unary = step.op == Op::kNegate || step.op == Op::kNot ||
                                  step.op == Op::kLog2 || step.op == Op::kRoot ||
                                  step.op == Op::kAbsolute;
            double b = 0;
            if (!is_unary) {
                b = stack.back();
                stack.pop_back();
            }
            stack.back() = apply(step.op, stack.back(), b);
        }
    }
    if (!std::isfinite(stack.back())) return std::nullopt;
    return stack.back();
}

}  // namespace lockstep::sweep
