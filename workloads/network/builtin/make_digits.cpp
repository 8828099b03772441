// SPDX-License-Identifier: Apache-2.0
// Prints data/digits_cnn.inc: the weights of the CNN that `lockstep demo` trains, as its reference
// trains it in double precision, rounded to fp32. make_digits >
// workloads/network/builtin/data/digits_cnn.inc
#include <fmt/format.h>

#include <bit>

#include "workloads/cuda/train/reference.h"

int main() {
    using namespace lockstep::cuda;
    const TrainOptions options;
    const Digits digits = draw_digits(1600, 2 * options.seed);
    const ReferenceTraining trained = reference_train(NetworkKind::kCnn, digits, options);
    const std::vector<Weights> names = initial_weights(NetworkKind::kCnn, options.seed);
    for (std::size_t i = 0; i < trained.weights.size(); ++i) {
        fmt::print("// {}", names[i].name);
        for (std::size_t j = 0; j < trained.weights[i].size(); ++j)
            fmt::print("{}{:#x},", j % 9 == 0 ? "\n" : " ",
                       std::bit_cast<std::uint32_t>(static_cast<float>(trained.weights[i][j])));
        fmt::print("\n");
    }
}
