// SPDX-License-Identifier: Apache-2.0
// The backend-independent part of the training program.
#include "workloads/cuda/train/program.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "sim/error/error.h"
#include "workloads/cuda/train/reference.h"

namespace lockstep::cuda {
namespace {

template <class T>
T parse_number(const std::string& option, const std::string& text, T minimum, T maximum) {
    T number{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || stop != text.data() + text.size() || number < minimum ||
        number > maximum) {
        throw InputError(fmt::format("{} {}: expected an integer from {} to {}", option, text,
                                     minimum, maximum));
    }
    return number;
}

void cut(Digits& digits, int count) {
    const int kept = std::min(count, digits.count());
    digits.labels.resize(kept);
    digits.pixels.resize(std::size_t(kept) * digits.rows * digits.cols);
}

}  // namespace

ProgramOptions parse_program_options(std::span<const std::string> arguments) {
    ProgramOptions options;
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
        const std::string& option = arguments[i];
        if (i + 1 == arguments.size()) {
            throw InputError(fmt::format("option '{}' has no value\n{}", option, kProgramUsage));
        }
        const std::string& value = arguments[i + 1];
        if (option == "--network" && (value == "mlp" || value == "cnn" || value == "both")) {
            options.mlp = value != "cnn";
            options.cnn = value != "mlp";
        } else if (option == "--epochs") {
            options.training.epochs = parse_number(option, value, 1, 1000);
        } else if (option == "--seed") {
            options.training.seed = parse_number<std::uint64_t>(option, value, 0, UINT64_MAX);
        } else if (option == "--train-images") {
            options.train_images = parse_number(option, value, options.training.batch, 1000000);
        } else if (option == "--test-images") {
            options.test_images = parse_number(option, value, 1, 1000000);
        } else if (option == "--mnist") {
            const std::filesystem::path folder = value;
            options.images = folder / "train-images-idx3-ubyte";
            options.labels = folder / "train-labels-idx1-ubyte";
            options.test_images_file = folder / "t10k-images-idx3-ubyte";
            options.test_labels_file = folder / "t10k-labels-idx1-ubyte";
        } else {
            throw InputError(
                fmt::format("'{} {}' is not an option\n{}", option, value, kProgramUsage));
        }
    }
    return options;
}

DigitSets load_digits(const ProgramOptions& options) {
    if (options.images.empty()) {
        const std::uint64_t seed = options.training.seed;
        return {draw_digits(options.train_images, 2 * seed),
                draw_digits(options.test_images, 2 * seed + 1)};
    }
    DigitSets sets{read_digits(options.images, options.labels),
                   read_digits(options.test_images_file, options.test_labels_file)};
    for (const Digits* digits : {&sets.train, &sets.test}) {
        if (digits->rows != kImageSide || digits->cols != kImageSide) {
            throw InputError(fmt::format("{}: images of {}x{} pixels, expected 28x28",
                                         options.images, digits->rows, digits->cols));
        }
    }
    cut(sets.train, options.train_images);
    cut(sets.test, options.test_images);
    return sets;
}

void print_heading(std::FILE* out, NetworkKind kind, const ProgramOptions& options,
                   const DigitSets& digits) {
    fmt::print(out, "{}, {} training and {} test images {}\n",
               kind == NetworkKind::kMlp ? "MLP (784-128-10)"
                                         : "CNN (conv 5x5 - max pool - conv 3x3 - linear)",
               digits.train.count(), digits.test.count(),
               options.images.empty() ? fmt::format("drawn from seed {}", options.training.seed)
                                      : fmt::format("of {}", options.images));
    fmt::print(out, "  epoch    loss  test accuracy\n");
    std::fflush(out);
}

void print_epoch(std::FILE* out, const EpochReport& report) {
    fmt::print(out, "  {:5} {:7.4f} {:13.1f}%\n", report.epoch, report.loss, 100 * report.accuracy);
    std::fflush(out);
}

bool check_training(std::FILE* out, NetworkKind kind, const ProgramOptions& options,
                    const DigitSets& digits, const Training& training) {
    const ReferenceTraining reference = reference_train(kind, digits.train, options.training);
    const auto comparisons =
        compare_weights(kind, options.training.seed, training.weights, reference);
    bool passed = true;
    for (const WeightComparison& c : comparisons) {
        passed &= c.passed;
        fmt::print(out, "  {:15} differs from Eigen's by {:.1e} of the way trained: {}\n", c.name,
                   c.error, c.passed ? "agrees" : "DOES NOT AGREE");
    }
    fmt::print(out, "  (tolerance {:.0e}; Eigen trains in double precision, final loss {:.4f})\n",
               kWeightTolerance, reference.losses.back());
    std::fflush(out);
    return passed;
}

}  // namespace lockstep::cuda
