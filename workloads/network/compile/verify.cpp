// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/verify.h"

#include <algorithm>
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/bf16.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network::compile {

namespace {

Check check_integers(const std::string& name, const Tensor& wanted, const Tensor& got) {
    const std::vector<std::int64_t> a = to_integers(wanted), b = to_integers(got);
    std::int64_t wrong = 0;
    std::string first;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && wrong++ == 0)
            first = fmt::format("element {} is {}, the reference says {}", i, b[i], a[i]);
    if (wrong == 0) return {name, true, fmt::format("{} elements, equal", a.size())};
    return {name, false, fmt::format("{}; {} of {} differ", first, wrong, a.size())};
}

/// The same operations in the same order: floats of an integer machine come from its host.
Check check_host_floats(const std::string& name, const Tensor& wanted, const Tensor& got) {
    const std::vector<float> a = to_floats(wanted), b = to_floats(got);
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i])))
            return {name, false,
                    fmt::format("element {} is {}, the reference says {}", i, b[i], a[i])};
    return {name, true, fmt::format("{} elements, equal", a.size())};
}

struct ErrorSize {
    double rms = 0, most = 0, scale = 0;
    double exact_rms = 0;  ///< of the exact values that are finite
    std::size_t where = 0;
    double relative() const { return exact_rms > 0 ? rms / exact_rms : rms; }
};

ErrorSize error_of(const std::vector<double>& exact, const std::vector<double>& other) {
    ErrorSize e;
    double squares = 0, exact_squares = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        // Infinities and NaNs of both are no difference.
        const bool same = exact[i] == other[i] || (std::isnan(exact[i]) && std::isnan(other[i]));
        const double d = same ? 0 : std::abs(other[i] - exact[i]);
        squares += d * d;
        // A NaN is the largest error.
        if (std::isnan(d) ? !std::isnan(e.most) : d > e.most) {
            e.most = d;
            e.where = i;
        }
        if (!std::isfinite(exact[i])) continue;
        e.scale = std::max(e.scale, std::abs(exact[i]));
        exact_squares += exact[i] * exact[i];
    }
    if (exact.empty()) return e;
    e.rms = std::sqrt(squares / static_cast<double>(exact.size()));
    e.exact_rms = std::sqrt(exact_squares / static_cast<double>(exact.size()));
    return e;
}

/// Adds what quantisation costs, where the FP32 result is known.
void add_quantisation_error(const Prepared& network, std::size_t output, const Tensor& got,
                            Check& check) {
    const Value& value = network.graph.value(network.graph.outputs[output]);
    if (output >= network.real_outputs.size() ||
        network.real_outputs[output].size() != static_cast<std::size_t>(element_count(got.shape)))
        return;
    const std::vector<float>& real = network.real_outputs[output];
    const Tensor floats = value.quantisation ? dequantise(got, *value.quantisation) : got;
    const ErrorSize e = error_of({real.begin(), real.end()}, to_doubles(floats));
    check.message +=
        fmt::format("; against FP32: rms error {:.3g}, largest {:.3g}, of values up to {:.3g}",
                    e.rms, e.most, e.scale);
    check.error = e.relative();
}

/// Of results of a type: half a step of its significand; of fp32 that of sums of some hundred
/// terms, which the two add in different orders.
double step_of(ElementType type) {
    return type == ElementType::kBf16 ? 0x1p-8 : type == ElementType::kFp16 ? 0x1p-11 : 0x1p-18;
}

/// `rounding`: what the reference executor rounded, in words.
Check check_near(const Value& value, const Tensor& exact, const Tensor& rounded,
                 const Tensor& result, std::string_view rounding) {
    const std::vector<double> yardstick = to_doubles(exact), got = to_doubles(result);
    const ErrorSize ours = error_of(yardstick, got),
                    reference = error_of(yardstick, to_doubles(rounded));
    const double step = ours.scale * step_of(value.type);
    // The mean of a few errors says no more than the largest of them.
    constexpr std::size_t kFew = 16;
    const bool passed = (got.size() < kFew || ours.rms <= 2 * reference.rms + step / 16) &&
                        ours.most <= 4 * reference.most + step;
    return {value.name, passed,
            fmt::format("{} elements against FP64: rms error {:.3g}, largest {:.3g} (rounding "
                        "{}: {:.3g}, {:.3g}); largest value {:.3g}{}",
                        got.size(), ours.rms, ours.most, rounding, reference.rms, reference.most,
                        ours.scale,
                        passed ? ""
                               : fmt::format("; element {} is {}, not {}", ours.where,
                                             got[ours.where], yardstick[ours.where])),
            ours.relative()};
}

}  // namespace

std::vector<Check> verify_equal(const Prepared& network, const std::vector<Tensor>& results,
                                Requantisation requantisation) {
    const Graph& graph = network.graph;
    const std::vector<Tensor> wanted =
        execute(graph, network.inputs, Precision::kFp32, {}, requantisation);
    std::vector<Check> checks;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Value& value = graph.value(graph.outputs[i]);
        checks.push_back(is_floating(value.type)
                             ? check_host_floats(value.name, wanted[i], results[i])
                             : check_integers(value.name, wanted[i], results[i]));
        add_quantisation_error(network, i, results[i], checks.back());
    }
    return checks;
}

namespace {

/// `rounded`: of the reference executor that rounds as the machine does.
std::vector<Check> verify_floats(const Prepared& network, const std::vector<Tensor>& rounded,
                                 const std::vector<Tensor>& results, std::string_view rounding) {
    const Graph& graph = network.graph;
    const std::vector<Tensor> exact = execute(graph, network.inputs, Precision::kFp64);
    std::vector<Check> checks;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Value& value = graph.value(graph.outputs[i]);
        const std::string_view values =
            value.type == ElementType::kBf16 ? "each value to bf16" : rounding;
        checks.push_back(is_floating(value.type)
                             ? check_near(value, exact[i], rounded[i], results[i], values)
                             : check_integers(value.name, rounded[i], results[i]));
    }
    return checks;
}

}  // namespace

std::vector<Check> verify_near(const Prepared& network, const std::vector<Tensor>& results) {
    return verify_rounded(network, results, round_product_operands(network.graph),
                          "operands of products to bf16");
}

std::vector<Check> verify_fp32(const Prepared& network, const std::vector<Tensor>& results) {
    return verify_rounded(network, results, network.graph, "to FP32");
}

std::vector<Check> verify_rounded(const Prepared& network, const std::vector<Tensor>& results,
                                  const Graph& rounded, std::string_view rounding) {
    return verify_floats(network, execute(rounded, network.inputs), results, rounding);
}

}  // namespace lockstep::network::compile
