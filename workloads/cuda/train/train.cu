// SPDX-License-Identifier: Apache-2.0
// The training program as an ordinary CUDA executable: the networks and the training loop are the
// headers that the Device build uses too; here a launch is <<<>>> and memory is cudaMalloc's.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "workloads/cuda/kernels/bias.cu"
#include "workloads/cuda/kernels/conv2d_direct.cu"
#include "workloads/cuda/kernels/cross_entropy.cu"
#include "workloads/cuda/kernels/pooling.cu"
#include "workloads/cuda/kernels/relu.cu"
#include "workloads/cuda/kernels/sgd.cu"
#include "workloads/cuda/kernels/sgemm_transposed.cu"
#include "workloads/cuda/train/program.h"

namespace {

void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

class CudaBackend {
  public:
    ~CudaBackend() {
        for (void* pointer : allocations_) cudaFree(pointer);
    }

    template <class T>
    T* allocate(int count) {
        void* pointer = nullptr;
        check(cudaMalloc(&pointer, sizeof(T) * count), "cudaMalloc");
        check(cudaMemset(pointer, 0, sizeof(T) * count), "cudaMemset");
        allocations_.push_back(pointer);
        return static_cast<T*>(pointer);
    }
    template <class T>
    void upload(T* to, const T* from, int count) {
        check(cudaMemcpy(to, from, sizeof(T) * count, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    template <class T>
    void download(T* to, const T* from, int count) {
        check(cudaMemcpy(to, from, sizeof(T) * count, cudaMemcpyDeviceToHost), "cudaMemcpy");
    }
    template <class... Parameters, class... Args>
    void launch(void (*kernel)(Parameters...), lockstep::cuda::Extent grid,
                lockstep::cuda::Extent block, Args... args) {
        kernel<<<dim3(grid.x, grid.y, grid.z), dim3(block.x, block.y, block.z)>>>(args...);
        check(cudaGetLastError(), "launch");
    }

  private:
    std::vector<void*> allocations_;
};

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> arguments(argv + 1, argv + argc);
        CudaBackend backend;
        return lockstep::cuda::run_program(
            backend, lockstep::cuda::parse_program_options(arguments), stdout);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
