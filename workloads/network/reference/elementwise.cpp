// SPDX-License-Identifier: Apache-2.0
// Elementwise operators with numpy's broadcasting. Integer division truncates, integer arithmetic
// wraps; Gelu is exact (erf) or the tanh approximation that GPT-2 was trained with.
// Source: the ONNX operator reference.
#include <algorithm>
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/reference/array.h"

namespace lockstep::network::reference {

namespace {

template <class Real, class T, class U, class F>
void binary(const Step<Real>& step, std::size_t a, std::size_t b, std::vector<U>& out, F&& f) {
    const Shape& shape = step.out[0]->shape;
    const std::vector<T>&x = step.in[a]->template values<T>(),
          &y = step.in[b]->template values<T>();
    if (step.in[a]->shape == shape && step.in[b]->shape == shape) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(x[i], y[i]);
        return;
    }
    std::vector<T> spread(out.size());
    for_each(shape, broadcast_strides(step.in[a]->shape, shape), 0,
             [&](std::size_t i, std::size_t offset) { spread[i] = x[offset]; });
    for_each(shape, broadcast_strides(step.in[b]->shape, shape), 0,
             [&](std::size_t i, std::size_t offset) { out[i] = f(spread[i], y[offset]); });
}

template <class T>
T wrapped(Operator op, T x, T y) {
    if constexpr (std::is_integral_v<T>) {
        const auto a = static_cast<std::uint64_t>(x), b = static_cast<std::uint64_t>(y);
        switch (op) {
            case Operator::kAdd:
                return static_cast<T>(a + b);
            case Operator::kSub:
                return static_cast<T>(a - b);
            default:
                return static_cast<T>(a * b);
        }
    } else {
        switch (op) {
            case Operator::kAdd:
                return x + y;
            case Operator::kSub:
                return x - y;
            default:
                return x * y;
        }
    }
}

template <class T>
T divide(const Node& node, T x, T y) {
    if constexpr (std::is_integral_v<T>) {
        if (y == 0)
            throw InputError(fmt::format("node {} (Div): integer division by 0", node.name));
        if (y == -1) return static_cast<T>(-static_cast<std::uint64_t>(x));
    }
    return x / y;
}

/// Python's remainder has the divisor's sign, that of C the dividend's.
template <class T>
T remainder(const Node& node, T x, T y) {
    const bool as_in_c = node.integer("fmod", 0) != 0;
    if constexpr (std::is_integral_v<T>) {
        if (y == 0)
            throw InputError(fmt::format("node {} (Mod): integer division by 0", node.name));
        const T rest = y == -1 ? 0 : x % y;
        return as_in_c || rest == 0 || (rest < 0) == (y < 0) ? rest : rest + y;
    } else {
        const T rest = std::fmod(x, y);
        return as_in_c || rest == 0 || (rest < 0) == (y < 0) ? rest : rest + y;
    }
}

template <class Real, class T>
bool arithmetic(const Step<Real>& step) {
    const Node& node = step.node;
    std::vector<T>& out = step.out[0]->template values<T>();
    const auto apply = [&](auto f) {
        binary<Real, T>(step, 0, 1, out, f);
        return true;
    };
    // Sum, Max and Min take any number of inputs.
    const auto fold = [&](auto f) {
        for_each(
            step.out[0]->shape, broadcast_strides(step.in[0]->shape, step.out[0]->shape), 0,
            [&](std::size_t i, std::size_t o) { out[i] = step.in[0]->template values<T>()[o]; });
        for (std::size_t n = 1; n < step.in.size(); ++n)
            for_each(step.out[0]->shape, broadcast_strides(step.in[n]->shape, step.out[0]->shape),
                     0, [&](std::size_t i, std::size_t o) {
                         out[i] = f(out[i], step.in[n]->template values<T>()[o]);
                     });
        return true;
    };
    switch (node.op) {
        case Operator::kAdd:
            return apply([](T x, T y) { return wrapped(Operator::kAdd, x, y); });
        case Operator::kSub:
            return apply([](T x, T y) { return wrapped(Operator::kSub, x, y); });
        case Operator::kMul:
            return apply([](T x, T y) { return wrapped(Operator::kMul, x, y); });
        case Operator::kDiv:
            return apply([&](T x, T y) { return divide(node, x, y); });
        case Operator::kMod:
            return apply([&](T x, T y) { return remainder(node, x, y); });
        case Operator::kSum:
            return fold([](T x, T y) { return wrapped(Operator::kAdd, x, y); });
        case Operator::kMax:
            return fold([](T x, T y) { return std::max(x, y); });
        case Operator::kMin:
            return fold([](T x, T y) { return std::min(x, y); });
        default:
            return false;
    }
}

template <class Real, class T>
bool compare(const Step<Real>& step) {
    std::vector<std::int64_t>& out = step.out[0]->integer;
    const auto apply = [&](auto f) {
        binary<Real, T>(step, 0, 1, out, f);
        return true;
    };
    switch (step.node.op) {
        case Operator::kEqual:
            return apply([](T x, T y) { return std::int64_t{x == y}; });
        case Operator::kGreater:
            return apply([](T x, T y) { return std::int64_t{x > y}; });
        case Operator::kGreaterOrEqual:
            return apply([](T x, T y) { return std::int64_t{x >= y}; });
        case Operator::kLess:
            return apply([](T x, T y) { return std::int64_t{x < y}; });
        case Operator::kLessOrEqual:
            return apply([](T x, T y) { return std::int64_t{x <= y}; });
        case Operator::kXor:
            return apply([](T x, T y) { return std::int64_t{(x != 0) != (y != 0)}; });
        case Operator::kAnd:
            return apply([](T x, T y) { return std::int64_t{x != 0 && y != 0}; });
        case Operator::kOr:
            return apply([](T x, T y) { return std::int64_t{x != 0 || y != 0}; });
        default:
            return false;
    }
}

template <class Real>
bool pow(const Step<Real>& step) {
    if (step.node.op != Operator::kPow) return false;
    const auto reals = [](const Array<Real>& a) {
        return is_floating(a.type) ? a.real : std::vector<Real>(a.integer.begin(), a.integer.end());
    };
    const std::vector<Real> x = reals(*step.in[0]), y = reals(*step.in[1]);
    const Shape& shape = step.out[0]->shape;
    std::vector<Real> base(static_cast<std::size_t>(element_count(shape)));
    for_each(shape, broadcast_strides(step.in[0]->shape, shape), 0,
             [&](std::size_t i, std::size_t o) { base[i] = x[o]; });
    for_each(shape, broadcast_strides(step.in[1]->shape, shape), 0,
             [&](std::size_t i, std::size_t o) {
                 const Real power = std::pow(base[i], y[o]);
                 if (is_floating(step.out[0]->type))
                     step.out[0]->real[i] = power;
                 else
                     step.out[0]->integer[i] =
                         from_doubles(ElementType::kInt64, {},
                                      std::vector<double>{static_cast<double>(power)})
                             .template as<std::int64_t>()[0];
             });
    return true;
}

template <class Real, class T>
void where(const Step<Real>& step) {
    const Shape& shape = step.out[0]->shape;
    std::vector<T>& out = step.out[0]->template values<T>();
    std::vector<std::uint8_t> condition(out.size());
    for_each(shape, broadcast_strides(step.in[0]->shape, shape), 0,
             [&](std::size_t i, std::size_t o) { condition[i] = step.in[0]->integer[o] != 0; });
    for (const std::size_t branch : {1, 2})
        for_each(shape, broadcast_strides(step.in[branch]->shape, shape), 0,
                 [&](std::size_t i, std::size_t o) {
                     if (condition[i] == (branch == 1))
                         out[i] = step.in[branch]->template values<T>()[o];
                 });
}

template <class Real, class T>
bool clip(const Step<Real>& step) {
    if (step.node.op != Operator::kClip) return false;
    std::vector<T>& out = step.out[0]->template values<T>();
    out = step.in[0]->template values<T>();
    for (const std::size_t bound : {1, 2}) {
        if (!step.has(bound)) continue;
        const std::vector<T>& limit = step.in[bound]->template values<T>();
        if (limit.size() != 1)
            throw InputError(fmt::format("node {} (Clip): a bound is no scalar", step.node.name));
        for (T& x : out) x = bound == 1 ? std::max(x, limit[0]) : std::min(x, limit[0]);
    }
    return true;
}

template <class Real>
Real gelu(Real x, bool tanh) {
    if (!tanh) return x * (1 + std::erf(x * Real(M_SQRT1_2))) / 2;
    const Real inner = Real(M_2_SQRTPI * M_SQRT1_2) * (x + Real(0.044715) * x * x * x);
    return x * (1 + std::tanh(inner)) / 2;
}

template <class Real>
bool unary(const Step<Real>& step) {
    const Node& node = step.node;
    const auto apply = [&](auto f) {
        const std::vector<Real>& x = step.real(0);
        for (std::size_t i = 0; i < x.size(); ++i) step.out[0]->real[i] = f(x[i]);
        return true;
    };
    const bool is_hard_sigmoid = node.op == Operator::kHardSigmoid;
    const Real alpha = node.op == Operator::kLeakyRelu
                           ? node.real("alpha", 0.01f)
                           : node.real("alpha", is_hard_sigmoid ? 0.2f : 1);
    const Real beta = node.real("beta", 0.5f);
    switch (node.op) {
        case Operator::kAcos:
            return apply([](Real x) { return std::acos(x); });
        case Operator::kAsin:
            return apply([](Real x) { return std::asin(x); });
        case Operator::kAtan:
            return apply([](Real x) { return std::atan(x); });
        case Operator::kCeil:
            return apply([](Real x) { return std::ceil(x); });
        case Operator::kCos:
            return apply([](Real x) { return std::cos(x); });
        case Operator::kCosh:
            return apply([](Real x) { return std::cosh(x); });
        case Operator::kFloor:
            return apply([](Real x) { return std::floor(x); });
        case Operator::kRound:
            return apply([](Real x) { return std::nearbyint(x); });
        case Operator::kSin:
            return apply([](Real x) { return std::sin(x); });
        case Operator::kSinh:
            return apply([](Real x) { return std::sinh(x); });
        case Operator::kSoftplus:
            return apply(
                [](Real x) { return std::max<Real>(x, 0) + std::log1p(std::exp(-std::abs(x))); });
        case Operator::kSoftsign:
            return apply([](Real x) { return x / (1 + std::abs(x)); });
        case Operator::kElu:
            return apply([&](Real x) { return x < 0 ? alpha * std::expm1(x) : x; });
        case Operator::kErf:
            return apply([](Real x) { return std::erf(x); });
        case Operator::kExp:
            return apply([](Real x) { return std::exp(x); });
        case Operator::kGelu: {
            const bool tanh = node.text("approximate", "none") == "tanh";
            return apply([&](Real x) { return gelu(x, tanh); });
        }
        case Operator::kHardSigmoid:
            return apply([&](Real x) { return std::clamp<Real>(alpha * x + beta, 0, 1); });
        case Operator::kHardSwish:
            return apply([](Real x) { return x * std::clamp<Real>(x / 6 + Real(0.5), 0, 1); });
        case Operator::kLeakyRelu:
            return apply([&](Real x) { return x < 0 ? alpha * x : x; });
        case Operator::kLog:
            return apply([](Real x) { return std::log(x); });
        case Operator::kReciprocal:
            return apply([](Real x) { return 1 / x; });
        case Operator::kSigmoid:
            return apply([](Real x) { return 1 / (1 + std::exp(-x)); });
        case Operator::kSqrt:
            return apply([](Real x) { return std::sqrt(x); });
        case Operator::kTan:
            return apply([](Real x) { return std::tan(x); });
        case Operator::kTanh:
            return apply([](Real x) { return std::tanh(x); });
        default:
            return false;
    }
}

/// Which elements are no ordinary numbers.
template <class Real>
bool classify(const Step<Real>& step) {
    const Node& node = step.node;
    if (node.op != Operator::kIsInf && node.op != Operator::kIsNaN) return false;
    const bool low = node.integer("detect_negative", 1) != 0,
               high = node.integer("detect_positive", 1) != 0;
    for (std::size_t i = 0; i < step.real(0).size(); ++i) {
        const Real x = step.real(0)[i];
        step.out[0]->integer[i] =
            node.op == Operator::kIsNaN ? std::isnan(x) : std::isinf(x) && (x < 0 ? low : high);
    }
    return true;
}

template <class Real, class T>
bool signed_unary(const Step<Real>& step) {
    const auto apply = [&](auto f) {
        const std::vector<T>& x = step.in[0]->template values<T>();
        for (std::size_t i = 0; i < x.size(); ++i) step.out[0]->template values<T>()[i] = f(x[i]);
        return true;
    };
    switch (step.node.op) {
        case Operator::kAbs:
            return apply([](T x) { return x < 0 ? wrapped(Operator::kSub, T{}, x) : x; });
        case Operator::kNeg:
            return apply([](T x) { return wrapped(Operator::kMul, T{-1}, x); });
        case Operator::kSign:
            return apply([](T x) { return x > 0 ? T{1} : x < 0 ? T{-1} : x; });
        case Operator::kRelu:
            return apply([](T x) { return x > 0 || x != x ? x : T{}; });
        default:
            return false;
    }
}

}  // namespace

template <class Real>
bool run_elementwise(const Step<Real>& step) {
    if (step.node.op == Operator::kNot) {
        for (std::size_t i = 0; i < step.out[0]->integer.size(); ++i)
            step.out[0]->integer[i] = step.in[0]->integer[i] == 0;
        return true;
    }
    if (step.in.empty() || step.in[0] == nullptr) return false;
    const bool real = is_floating(step.in[0]->type);
    if (step.node.op == Operator::kWhere) {
        is_floating(step.out[0]->type) ? where<Real, Real>(step) : where<Real, std::int64_t>(step);
        return true;
    }
    if (step.node.op == Operator::kPRelu) {
        binary<Real, Real>(step, 0, 1, step.out[0]->real,
                           [](Real x, Real slope) { return x < 0 ? slope * x : x; });
        return true;
    }
    if (pow(step)) return true;
    if (real)
        return arithmetic<Real, Real>(step) || compare<Real, Real>(step) ||
               clip<Real, Real>(step) || signed_unary<Real, Real>(step) || classify(step) ||
               unary(step);
    return arithmetic<Real, std::int64_t>(step) || compare<Real, std::int64_t>(step) ||
           clip<Real, std::int64_t>(step) || signed_unary<Real, std::int64_t>(step);
}

template bool run_elementwise(const Step<float>&);
template bool run_elementwise(const Step<double>&);

}  // namespace lockstep::network::reference
