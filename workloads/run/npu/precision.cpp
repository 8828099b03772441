// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/npu/precision.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "workloads/network/builtin/builtin.h"
#include "workloads/network/builtin/digits.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/from_onnx.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::run {

namespace {

constexpr int kJudgedImages = 400;
constexpr std::uint64_t kSamples = 2;
constexpr double kPercentBudget = 0.5, kFewestDecibels = 20;

double decibels(const std::vector<network::Tensor>& exact,
                const std::vector<network::Tensor>& other) {
    double signal = 0, noise = 0;
    for (std::size_t n = 0; n < exact.size(); ++n) {
        const std::vector<double> x = to_doubles(exact[n]), y = to_doubles(other[n]);
        for (std::size_t i = 0; i < x.size(); ++i) {
            signal += x[i] * x[i];
            noise += (x[i] - y[i]) * (x[i] - y[i]);
        }
    }
    return noise == 0 ? 99 : 10 * std::log10(signal / noise);
}

}  // namespace

std::vector<std::string> precisions_of(const Job& job) {
    std::vector<std::string> words;
    std::string_view rest = job.precision.empty() ? std::string_view("8") : job.precision;
    do {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        words.emplace_back(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        const std::string& word = words.back();
        if (word != "mixed" && !network::parse_precision(word, false))
            throw InputError(fmt::format(
                "--precision {}: '{}' is none of 8, 4, 2, mixed (4a8: weights of 4 bits, "
                "activations of 8)",
                job.precision, word));
    } while (!rest.empty());
    return words;
}

double percent_right(const network::Tensor& results, const std::vector<int>& labels) {
    const std::vector<double> values = to_doubles(results);
    const std::size_t classes = values.size() / labels.size();
    std::size_t right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * classes);
        right +=
            std::max_element(row, row + static_cast<std::ptrdiff_t>(classes)) - row == labels[i];
    }
    return 100.0 * static_cast<double>(right) / static_cast<double>(labels.size());
}

Judge::Judge(const network::Graph& legal, std::uint64_t seed) : graph_(legal) {
    if (network::is_digits_network(legal)) {
        network::BuiltinOptions options;
        options.parameters = {{"batch", kJudgedImages}};
        graph_ = network::legalise_for_npu(network::build_network(legal.name, options));
        network::LabelledImages digits = network::digits_to_calibrate(kJudgedImages);
        labels_ = std::move(digits.labels);
        samples_ = {{std::move(digits.images)}};
    } else {
        for (std::uint64_t sample = 0; sample < kSamples; ++sample)
            samples_.push_back(network::seeded_inputs(legal, seed + sample));
    }
    if (network::is_quantised_model(graph_) || network::is_stored_graph(graph_))
        throw InputError("--precision: the network is quantised already");
    ranges_ = network::calibrate(graph_, samples_);
    network::share_concat_ranges(graph_, ranges_);
    if (!has_labels())
        for (const auto& sample : samples_) real_.push_back(network::execute(graph_, sample));
}

double Judge::quality(const network::NpuPrecision& precision) const {
    network::QuantiseOptions options = network::npu_options(precision);
    options.integer_interface = false;
    const network::Graph integers = network::quantise(graph_, ranges_, options);
    double worst = 1e9;
    for (std::size_t s = 0; s < samples_.size(); ++s) {
        const std::vector<network::Tensor> results = network::execute(
            integers, samples_[s], network::Precision::kFp32, {}, network::Requantisation::kTfLite);
        worst = std::min(worst, has_labels() ? percent_right(results.at(0), labels_)
                                             : decibels(real_[s], results));
    }
    return worst;
}

double Judge::budget(double of_8) const {
    return has_labels() ? kPercentBudget : std::max(0.0, of_8 - kFewestDecibels);
}

std::string Judge::text(double quality) const {
    return has_labels() ? fmt::format("{:.2f}%", quality) : fmt::format("{:.1f} dB", quality);
}

network::NpuPrecision precision_named(const std::string& word, const network::Graph& legal,
                                      bool narrow_activations, std::uint64_t seed, Screen& screen) {
    if (const auto bits = network::parse_precision(word, narrow_activations)) return {*bits, {}};
    screen.progress("trying bits layer by layer");
    const Judge judge(legal, seed);
    const double of_8 = judge.quality({});
    const network::MixedPrecision mixed = network::choose_mixed(
        legal, narrow_activations, judge.budget(of_8),
        [&](const network::NpuPrecision& precision) { return judge.quality(precision); });
    std::string text;
    for (const network::Node& node : legal.nodes) {
        if (network::info_of(node.op).role != network::LayerRole::kProduct) continue;
        const auto found = mixed.precision.bits_of_layer.find(node.name);
        const network::LayerBits bits =
            found == mixed.precision.bits_of_layer.end() ? network::LayerBits{} : found->second;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", node.name, network::name_of(bits));
    }
    screen.print(fmt::format(
        "mixed: {}; on the data it was chosen by {}, with 8 bits {} "
        "({} trials)\n",
        text, judge.text(mixed.quality), judge.text(mixed.quality_of_8), mixed.evaluations));
    return mixed.precision;
}

}  // namespace lockstep::run
