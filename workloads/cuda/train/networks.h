// SPDX-License-Identifier: Apache-2.0
// The two networks of weights.h, forward and backward, as launches on a Backend.
#pragma once

#include <vector>

#include "workloads/cuda/train/layers.h"

namespace lockstep::cuda {

template <class Backend>
class Mlp {
  public:
    static constexpr NetworkKind kKind = NetworkKind::kMlp;

    Mlp(Backend& backend, const std::vector<Weights>& initial, int batch)
        : backend_(backend),
          linear1_{backend, make_parameter(backend, initial[0]),
                   make_parameter(backend, initial[1]), kPixels, kHidden},
          linear2_{backend, make_parameter(backend, initial[2]),
                   make_parameter(backend, initial[3]), kHidden, kClasses},
          hidden_(backend.template allocate<float>(batch * kHidden)),
          dhidden_(backend.template allocate<float>(batch * kHidden)) {}

    std::vector<Parameter> parameters() const {
        return {linear1_.weight, linear1_.bias, linear2_.weight, linear2_.bias};
    }

    void forward(const float* images, float* logits, int count) {
        linear1_.forward(images, hidden_, count);
        relu(backend_, hidden_, hidden_, count * kHidden);
        linear2_.forward(hidden_, logits, count);
    }

    void backward(const float* images, const float* dlogits, int count) {
        linear2_.backward_parameters(hidden_, dlogits, count);
        linear2_.backward_data(dlogits, dhidden_, count);
        relu_backward(backend_, hidden_, dhidden_, dhidden_, count * kHidden);
        linear1_.backward_parameters(images, dhidden_, count);
    }

  private:
    Backend& backend_;
    Linear<Backend> linear1_, linear2_;
    float *hidden_, *dhidden_;
};

template <class Backend>
class Cnn {
  public:
    static constexpr NetworkKind kKind = NetworkKind::kCnn;

    Cnn(Backend& backend, const std::vector<Weights>& initial, int batch)
        : backend_(backend),
          conv1_{backend,
                 make_parameter(backend, initial[0]),
                 make_parameter(backend, initial[1]),
                 1,
                 kImageSide,
                 kConv1Filters,
                 kConv1Window,
                 kConv1Stride,
                 kConv1Pad},
          conv2_{backend,
                 make_parameter(backend, initial[2]),
                 make_parameter(backend, initial[3]),
                 kConv1Filters,
                 kPooledSide,
                 kConv2Filters,
                 kConv2Window,
                 kConv2Stride,
                 kConv2Pad},
          linear_{backend, make_parameter(backend, initial[4]), make_parameter(backend, initial[5]),
                  kFeatures, kClasses} {
        for (float** array : {&maps1_, &dmaps1_}) {
            *array = backend.template allocate<float>(batch * kMaps1);
        }
        for (float** array : {&pooled_, &dpooled_}) {
            *array = backend.template allocate<float>(batch * kPooled);
        }
        for (float** array : {&maps2_, &dmaps2_}) {
            *array = backend.template allocate<float>(batch * kFeatures);
        }
        index_ = backend.template allocate<int>(batch * kPooled);
    }

    std::vector<Parameter> parameters() const {
        return {conv1_.weight, conv1_.bias,    conv2_.weight,
                conv2_.bias,   linear_.weight, linear_.bias};
    }

    void forward(const float* images, float* logits, int count) {
        conv1_.forward(images, maps1_, count);
        relu(backend_, maps1_, maps1_, count * kMaps1);
        backend_.launch(LOCKSTEP_KERNEL(pooling, max_pool2d),
                        Extent{ceil_div(count * kPooled, 256)}, Extent{256}, maps1_, pooled_,
                        index_, count * kConv1Filters, kConv1Side, kConv1Side, 2, 2, kPooledSide,
                        kPooledSide, 2, 0);
        conv2_.forward(pooled_, maps2_, count);
        relu(backend_, maps2_, maps2_, count * kFeatures);
        linear_.forward(maps2_, logits, count);
    }

    void backward(const float* images, const float* dlogits, int count) {
        linear_.backward_parameters(maps2_, dlogits, count);
        linear_.backward_data(dlogits, dmaps2_, count);
        relu_backward(backend_, maps2_, dmaps2_, dmaps2_, count * kFeatures);
        conv2_.backward_parameters(pooled_, dmaps2_, count);
        conv2_.backward_data(dmaps2_, dpooled_, count);
        backend_.launch(LOCKSTEP_KERNEL(pooling, max_pool2d_backward),
                        Extent{ceil_div(count * kMaps1, 256)}, Extent{256}, dpooled_, index_,
                        dmaps1_, count * kConv1Filters, kConv1Side, kConv1Side, 2, 2, kPooledSide,
                        kPooledSide, 2, 0);
        relu_backward(backend_, maps1_, dmaps1_, dmaps1_, count * kMaps1);
        conv1_.backward_parameters(images, dmaps1_, count);
    }

  private:
    static constexpr int kMaps1 = kConv1Filters * kConv1Side * kConv1Side;
    static constexpr int kPooled = kConv1Filters * kPooledSide * kPooledSide;

    Backend& backend_;
    Conv<Backend> conv1_, conv2_;
    Linear<Backend> linear_;
    float *maps1_, *dmaps1_, *pooled_, *dpooled_, *maps2_, *dmaps2_;
    int* index_;
};

}  // namespace lockstep::cuda
