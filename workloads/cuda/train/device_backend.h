// SPDX-License-Identifier: Apache-2.0
// The trainer's backend on a Device: kernels are found by name, device memory is host memory.
#pragma once

#include <cstring>

#include "workloads/cuda/launcher.h"
#include "workloads/cuda/train/layers.h"

namespace lockstep::cuda {

class DeviceBackend {
  public:
    explicit DeviceBackend(Device& device) : launcher_(device) {}

    template <class T>
    T* allocate(int count) {
        return launcher_.allocate<T>(static_cast<std::size_t>(count)).view().data();
    }
    template <class T>
    void upload(T* to, const T* from, int count) {
        std::memcpy(to, from, sizeof(T) * static_cast<std::size_t>(count));
    }
    template <class T>
    void download(T* to, const T* from, int count) {
        std::memcpy(to, from, sizeof(T) * static_cast<std::size_t>(count));
    }
    template <class... Args>
    void launch(KernelName kernel, Extent grid, Extent block, Args... args) {
        const LaunchResult result = launcher_.launch(
            kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, 0, Arguments(args...));
        warp_instructions_ += result.warp_instructions;
    }
    std::uint64_t warp_instructions() const { return warp_instructions_; }

  private:
    Launcher launcher_;
    std::uint64_t warp_instructions_ = 0;
};

}  // namespace lockstep::cuda
