// SPDX-License-Identifier: Apache-2.0
// Trains a network on digits: the same source drives the CUDA runtime and a Device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "workloads/cuda/digits/digits.h"
#include "workloads/cuda/train/networks.h"

namespace lockstep::cuda {

struct EpochReport {
    int epoch = 0;        ///< from 1
    double loss = 0;      ///< mean over the training images, as they were seen
    double accuracy = 0;  ///< on the test images, 0 to 1
};

struct Training {
    std::vector<EpochReport> epochs;
    std::vector<Weights> weights;  ///< after the last step
};

inline std::vector<float> pixels_as_floats(const Digits& digits) {
    std::vector<float> pixels(digits.pixels.size());
    std::transform(digits.pixels.begin(), digits.pixels.end(), pixels.begin(),
                   [](std::uint8_t p) { return static_cast<float>(p) / 255.0f; });
    return pixels;
}

/// Images 28x28. The last images that do not fill a batch are left out. `on_epoch` may be empty.
template <template <class> class Net, class Backend>
Training train(Backend& backend, const Digits& train_set, const Digits& test_set,
               const TrainOptions& options,
               const std::function<void(const EpochReport&)>& on_epoch) {
    const int batch = options.batch;
    std::vector<Weights> weights = initial_weights(Net<Backend>::kKind, options.seed);
    Net<Backend> network(backend, weights, batch);

    const auto upload_images = [&](const Digits& digits) {
        const std::vector<float> pixels = pixels_as_floats(digits);
        float* images = backend.template allocate<float>(static_cast<int>(pixels.size()));
        backend.upload(images, pixels.data(), static_cast<int>(pixels.size()));
        return images;
    };
    const float* images = upload_images(train_set);
    const float* test_images = upload_images(test_set);
    int* labels = backend.template allocate<int>(train_set.count());
    const std::vector<int> host_labels(train_set.labels.begin(), train_set.labels.end());
    backend.upload(labels, host_labels.data(), train_set.count());
    float* logits = backend.template allocate<float>(batch * kClasses);
    float* dlogits = backend.template allocate<float>(batch * kClasses);
    float* losses = backend.template allocate<float>(batch);

    const auto rows = static_cast<unsigned>(batch);
    const auto step = [&](int first) {
        const float* x = images + std::size_t(first) * kPixels;
        network.forward(x, logits, batch);
        backend.launch(LOCKSTEP_KERNEL(cross_entropy, cross_entropy), Extent{rows}, Extent{32},
                       logits, labels + first, losses, batch, kClasses);
        backend.launch(LOCKSTEP_KERNEL(cross_entropy, cross_entropy_backward), Extent{rows},
                       Extent{32}, logits, labels + first, dlogits, batch, kClasses,
                       1.0f / static_cast<float>(batch));
        network.backward(x, dlogits, batch);
        for (const Parameter& p : network.parameters()) update(backend, p, options);
        std::vector<float> host_losses(batch);
        backend.download(host_losses.data(), losses, batch);
        double sum = 0;
        for (const float loss : host_losses) sum += loss;
        return sum;
    };
    const auto correct_answers = [&](int first, int count) {
        std::vector<float> host_logits(std::size_t(count) * kClasses);
        network.forward(test_images + std::size_t(first) * kPixels, logits, count);
        backend.download(host_logits.data(), logits, count * kClasses);
        int correct = 0;
        for (int i = 0; i < count; ++i) {
            const auto row = host_logits.begin() + i * kClasses;
            correct += std::max_element(row, row + kClasses) - row == test_set.labels[first + i];
        }
        return correct;
    };

    Training training;
    for (int epoch = 1; epoch <= options.epochs; ++epoch) {
        EpochReport report{epoch};
        int seen = 0, correct = 0;
        for (; seen + batch <= train_set.count(); seen += batch) report.loss += step(seen);
        report.loss /= std::max(seen, 1);
        for (int i = 0; i < test_set.count(); i += batch) {
            correct += correct_answers(i, std::min(batch, test_set.count() - i));
        }
        report.accuracy = static_cast<double>(correct) / std::max(test_set.count(), 1);
        training.epochs.push_back(report);
        if (on_epoch) on_epoch(report);
    }
    const std::vector<Parameter> parameters = network.parameters();
    for (std::size_t i = 0; i < weights.size(); ++i) {
        backend.download(weights[i].values.data(), parameters[i].value, parameters[i].count);
    }
    training.weights = std::move(weights);
    return training;
}

}  // namespace lockstep::cuda
