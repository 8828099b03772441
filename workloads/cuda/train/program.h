// SPDX-License-Identifier: Apache-2.0
// The training program: reads its options, trains, prints loss and accuracy by epoch, and checks
// the weights. The part that does not depend on the backend is in program.cpp.
#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "workloads/cuda/train/trainer.h"

namespace lockstep::cuda {

struct ProgramOptions {
    bool mlp = true, cnn = true;
    TrainOptions training;
    int train_images = 1600, test_images = 500;
    std::string images, labels, test_images_file, test_labels_file;  ///< IDX files; empty: drawn
};

inline constexpr const char* kProgramUsage =
    "options: --network mlp|cnn|both  --epochs N  --seed N  --train-images N  --test-images N\n"
    "         --mnist FOLDER (with train-images-idx3-ubyte, train-labels-idx1-ubyte,\n"
    "         t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte; without it digits are drawn)\n";

/// Throws InputError on what is not an option.
ProgramOptions parse_program_options(std::span<const std::string> arguments);

struct DigitSets {
    Digits train, test;
};

/// The digits that the options name, cut to the number of images asked for.
DigitSets load_digits(const ProgramOptions& options);

void print_heading(std::FILE* out, NetworkKind kind, const ProgramOptions& options,
                   const DigitSets& digits);
void print_epoch(std::FILE* out, const EpochReport& report);

/// Trains the reference, prints the comparison, returns whether all weights agree.
bool check_training(std::FILE* out, NetworkKind kind, const ProgramOptions& options,
                    const DigitSets& digits, const Training& training);

/// Trains what the options ask for. Returns the program's exit status: 0, or 5 where the weights
/// are not the reference's.
template <class Backend>
int run_program(Backend& backend, const ProgramOptions& options, std::FILE* out) {
    const DigitSets digits = load_digits(options);
    const auto report = [&](const EpochReport& epoch) { print_epoch(out, epoch); };
    bool passed = true;
    if (options.mlp) {
        print_heading(out, NetworkKind::kMlp, options, digits);
        const Training training =
            train<Mlp>(backend, digits.train, digits.test, options.training, report);
        passed &= check_training(out, NetworkKind::kMlp, options, digits, training);
    }
    if (options.cnn) {
        print_heading(out, NetworkKind::kCnn, options, digits);
        const Training training =
            train<Cnn>(backend, digits.train, digits.test, options.training, report);
        passed &= check_training(out, NetworkKind::kCnn, options, digits, training);
    }
    return passed ? 0 : 5;
}

}  // namespace lockstep::cuda
