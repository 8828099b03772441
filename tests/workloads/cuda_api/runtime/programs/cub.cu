// SPDX-License-Identifier: Apache-2.0
// Block- and device-wide primitives of CUB, which synchronise by all means there are: checks find
// nothing in them.
#include <cub/cub.cuh>

#include "check.h"

namespace {

constexpr int kThreads = 128, kItems = 4, kN = 10000;

__global__ void block_primitives(const int* in, int* sorted, int* sums) {
    using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
    using Scan = cub::BlockScan<int, kThreads>;
    using Reduce = cub::BlockReduce<int, kThreads>;
    __shared__ union {
        Load::TempStorage load;
        Sort::TempStorage sort;
        Scan::TempStorage scan;
        Reduce::TempStorage reduce;
    } shared;
    int items[kItems];
    Load(shared.load).Load(in + blockIdx.x * kThreads * kItems, items);
    __syncthreads();
    Sort(shared.sort).Sort(items);
    for (int i = 0; i < kItems; ++i)
        sorted[(blockIdx.x * kThreads + threadIdx.x) * kItems + i] = items[i];
    __syncthreads();
    Scan(shared.scan).ExclusiveSum(items, items);
    __syncthreads();
    const int sum = Reduce(shared.reduce).Sum(items[0]);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <typename Call>
void with_storage(Call call) {
    size_t bytes = 0;
    OK(call(nullptr, bytes));
    void* storage = nullptr;
    OK(cudaMalloc(&storage, bytes));
    OK(call(storage, bytes));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(storage));
}

}  // namespace

int main() {
    static int host[kN], got[kN];
    unsigned random = 7;
    for (int& x : host) x = static_cast<int>((random = random * 1664525u + 1013904223u) >> 16);
    int *in, *out, *count;
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMalloc(&count, 256 * sizeof(int)));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));

    constexpr int kBlocks = kN / (kThreads * kItems);
    block_primitives<<<kBlocks, kThreads>>>(in, out, count);
    OK(cudaMemcpy(got, out, sizeof(int) * kBlocks * kThreads * kItems, cudaMemcpyDeviceToHost));
    for (int i = 1; i < kThreads * kItems; ++i) EXPECT(got[i - 1] <= got[i]);

    with_storage([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, in, out, kN); });
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (int i = 0; i < kN; ++i) EXPECT(static_cast<unsigned>(got[i]) == (sum += host[i]));

    with_storage([&](void* s, size_t& b) { return cub::DeviceReduce::Sum(s, b, in, count, kN); });
    OK(cudaMemcpy(got, count, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(static_cast<unsigned>(got[0]) == sum);

    with_storage([&](void* s, size_t& b) { return cub::DeviceRadixSort::SortKeys(s, b, in, out, kN); });
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 1; i < kN; ++i) EXPECT(got[i - 1] <= got[i]);

    with_storage([&](void* s, size_t& b) {
        return cub::DeviceHistogram::HistogramEven(s, b, in, count, 65, 0, 65536, kN);
    });
    OK(cudaMemcpy(got, count, 64 * sizeof(int), cudaMemcpyDeviceToHost));
    int all = 0;
    for (int i = 0; i < 64; ++i) all += got[i];
    EXPECT(all == kN);
    return 0;
}
