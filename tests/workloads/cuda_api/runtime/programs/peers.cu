// SPDX-License-Identifier: Apache-2.0
// Two or more GPUs: direct access in kernels, copies, streams and events across devices, a ring
// all-reduce, and the errors of what is not allowed.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                         \
    do {                                                                                 \
        const cudaError_t e = (call);                                                    \
        if (e != cudaSuccess) {                                                          \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));       \
            std::exit(1);                                                                \
        }                                                                                \
    } while (0)
#define CHECK(condition)                                              \
    do {                                                              \
        if (!(condition)) {                                           \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                             \
        }                                                             \
    } while (0)

__device__ int of_device;
__global__ void scale(const float* src, float* dst, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) dst[i] = src[i] * 2.0f;
}
__global__ void accumulate(float* to, const float* from, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] += from[i];
}
__global__ void fill(float* to, int n, float value) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = value + i % 7;
}
__global__ void chain(float* x, int rounds) {
    float value = x[threadIdx.x];
    for (int r = 0; r < rounds; ++r) value = value * 1.0001f + 1.0f;
    x[threadIdx.x] = value;
}
__global__ void chase(const int* next, int steps, int* out) {
    int at = 0;
    for (int i = 0; i < steps; ++i) at = next[at];
    *out = at;
}
__global__ void add_atomically(int* sum, int count) {
    for (int i = 0; i < count; ++i) atomicAdd(sum, 1);
}

int main() {
    int devices = 0;
    OK(cudaGetDeviceCount(&devices));
    std::printf("%d devices\n", devices);
    CHECK(devices >= 2);
    CHECK(cudaSetDevice(devices) == cudaErrorInvalidDevice);
    (void)cudaGetLastError();
    int can = 0;
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    OK(cudaDeviceCanAccessPeer(&can, 1, 0));
    std::printf("peer access %s\n", can ? "yes" : "no");
    char id[2][32];
    for (int d = 0; d < 2; ++d) OK(cudaDeviceGetPCIBusId(id[d], 32, d));
    int found = -1;
    OK(cudaDeviceGetByPCIBusId(&found, id[1]));
    CHECK(found == 1);

    // Variables of each device by itself.
    for (int d = 0; d < 2; ++d) {
        OK(cudaSetDevice(d));
        const int value = 10 + d;
        OK(cudaMemcpyToSymbol(of_device, &value, sizeof value));
    }
    for (int d = 0; d < 2; ++d) {
        OK(cudaSetDevice(d));
        int value = 0;
        OK(cudaMemcpyFromSymbol(&value, of_device, sizeof value));
        CHECK(value == 10 + d);
    }

    constexpr int kCount = 1 << 16;
    constexpr size_t kBytes = kCount * sizeof(float);
    std::vector<float*> buffer(devices), other(devices);
    std::vector<cudaStream_t> stream(devices);
    std::vector<cudaEvent_t> begin(devices), end(devices);
    for (int d = 0; d < devices; ++d) {
        OK(cudaSetDevice(d));
        OK(cudaMalloc(&buffer[d], kBytes));
        OK(cudaMalloc(&other[d], kBytes));
        OK(cudaStreamCreate(&stream[d]));
        OK(cudaEventCreate(&begin[d]));
        OK(cudaEventCreate(&end[d]));
        cudaPointerAttributes attributes;
        OK(cudaPointerGetAttributes(&attributes, buffer[d]));
        CHECK(attributes.device == d);
    }
    // A stream belongs to its device.
    OK(cudaSetDevice(0));
    fill<<<1, 32, 0, stream[1]>>>(buffer[0], 32, 0.0f);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);

    // Copies without and with peer access.
    float times[2] = {};
    for (int enabled = 0; enabled < (can ? 2 : 1); ++enabled) {
        if (enabled) {
            for (int d = 0; d < devices; ++d) {
                OK(cudaSetDevice(d));
                for (int p = 0; p < devices; ++p)
                    if (p != d) OK(cudaDeviceEnablePeerAccess(p, 0));
            }
            OK(cudaSetDevice(0));
            CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
            (void)cudaGetLastError();
        }
        OK(cudaSetDevice(0));
        fill<<<64, 256, 0, stream[0]>>>(buffer[0], kCount, 1.0f + enabled);
        OK(cudaEventRecord(begin[0], stream[0]));
        for (int i = 0; i < 4; ++i) OK(cudaMemcpyPeerAsync(buffer[1], 1, buffer[0], 0, kBytes, stream[0]));
        OK(cudaEventRecord(end[0], stream[0]));
        // Device 1 goes on when device 0 has got so far.
        OK(cudaSetDevice(1));
        OK(cudaStreamWaitEvent(stream[1], end[0], 0));
        scale<<<64, 256, 0, stream[1]>>>(buffer[1], other[1], kCount);
        std::vector<float> host(kCount);
        OK(cudaMemcpyAsync(host.data(), other[1], kBytes, cudaMemcpyDeviceToHost, stream[1]));
        OK(cudaStreamSynchronize(stream[1]));
        for (int i = 0; i < kCount; ++i) CHECK(host[i] == 2 * (1.0f + enabled + i % 7));
        OK(cudaEventElapsedTime(&times[enabled], begin[0], end[0]));
        std::printf("copies %s: %.1f GB/s\n", enabled ? "between peers" : "through the host",
                    4 * kBytes / (times[enabled] + 1e-9) / 1e6);
    }

    if (can) {
        // A kernel reads and writes the other device's memory.
        OK(cudaSetDevice(1));
        fill<<<64, 256>>>(buffer[1], kCount, 3.0f);
        OK(cudaDeviceSynchronize());
        OK(cudaSetDevice(0));
        OK(cudaEventRecord(begin[0], stream[0]));
        scale<<<512, 256, 0, stream[0]>>>(buffer[1], other[0], kCount);
        OK(cudaEventRecord(end[0], stream[0]));
        OK(cudaStreamSynchronize(stream[0]));
        float local, remote;
        OK(cudaEventElapsedTime(&remote, begin[0], end[0]));
        OK(cudaEventRecord(begin[0], stream[0]));
        scale<<<512, 256, 0, stream[0]>>>(other[0], buffer[0], kCount);
        OK(cudaEventRecord(end[0], stream[0]));
        OK(cudaStreamSynchronize(stream[0]));
        OK(cudaEventElapsedTime(&local, begin[0], end[0]));
        std::printf("a kernel reads: own memory %.4f ms, a peer's %.4f ms\n", local, remote);
        scale<<<512, 256, 0, stream[0]>>>(other[0], buffer[1], kCount);
        OK(cudaStreamSynchronize(stream[0]));
        std::vector<float> host(kCount);
        OK(cudaMemcpy(host.data(), buffer[1], kBytes, cudaMemcpyDeviceToHost));
        for (int i = 0; i < kCount; ++i) CHECK(host[i] == 4 * (3.0f + i % 7));

        // Latency of a chain of loads.
        constexpr int kSteps = 64;
        std::vector<int> next(kSteps * 64);
        for (int i = 0; i < kSteps; ++i) next[i * 64] = (i + 1) % kSteps * 64;
        int* list[2];
        int* out;
        for (int d = 0; d < 2; ++d) {
            OK(cudaSetDevice(d));
            OK(cudaMalloc(&list[d], next.size() * sizeof(int)));
            OK(cudaMemcpy(list[d], next.data(), next.size() * sizeof(int), cudaMemcpyHostToDevice));
        }
        OK(cudaSetDevice(0));
        OK(cudaMalloc(&out, sizeof(int)));
        for (int d = 0; d < 2; ++d) {
            float ms;
            OK(cudaEventRecord(begin[0], stream[0]));
            chase<<<1, 1, 0, stream[0]>>>(list[d], kSteps, out);
            OK(cudaEventRecord(end[0], stream[0]));
            OK(cudaStreamSynchronize(stream[0]));
            OK(cudaEventElapsedTime(&ms, begin[0], end[0]));
            std::printf("a load takes %.0f ns of %s memory\n", ms * 1e6 / kSteps, d ? "a peer's" : "its own");
        }
        // Atomics of both devices meet.
        int* sum;
        OK(cudaMalloc(&sum, sizeof(int)));
        OK(cudaMemset(sum, 0, sizeof(int)));
        OK(cudaDeviceSynchronize());
        for (int d = 0; d < 2; ++d) {
            OK(cudaSetDevice(d));
            add_atomically<<<4, 64, 0, stream[d]>>>(sum, 3);
        }
        for (int d = 0; d < 2; ++d) {
            OK(cudaSetDevice(d));
            OK(cudaDeviceSynchronize());
        }
        int total = 0;
        OK(cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost));
        CHECK(total == 2 * 4 * 64 * 3);
    }

    // Kernels of two devices run beside each other.
    float alone = 0, both = 0;
    for (int count = 1; count <= 2; ++count) {
        for (int d = 0; d < count; ++d) {
            OK(cudaSetDevice(d));
            OK(cudaMemset(buffer[d], 0, kBytes));
            OK(cudaDeviceSynchronize());
        }
        for (int d = 0; d < count; ++d) {
            OK(cudaSetDevice(d));
            OK(cudaEventRecord(begin[d], stream[d]));
            chain<<<1, 128, 0, stream[d]>>>(buffer[d], 10000);
            OK(cudaEventRecord(end[d], stream[d]));
        }
        for (int d = 0; d < count; ++d) {
            OK(cudaSetDevice(d));
            OK(cudaStreamSynchronize(stream[d]));
        }
        OK(cudaEventElapsedTime(count == 1 ? &alone : &both, begin[0], end[count - 1]));
    }
    std::printf("a kernel %.4f ms, one on each of two devices %.4f ms\n", alone, both);

    // A ring all-reduce: each device's part goes round, added up, then the sums go round.
    const int part = kCount / devices;
    for (int d = 0; d < devices; ++d) {
        OK(cudaSetDevice(d));
        fill<<<64, 256, 0, stream[d]>>>(buffer[d], kCount, static_cast<float>(d));
        OK(cudaStreamSynchronize(stream[d]));
    }
    for (int phase = 0; phase < 2; ++phase)
        for (int step = 0; step + 1 < devices; ++step) {
            for (int d = 0; d < devices; ++d) {
                OK(cudaSetDevice(d));
                const int to = (d + 1) % devices, slice = (d - step + phase + 2 * devices) % devices;
                float* const target = phase == 0 ? other[to] : buffer[to];
                OK(cudaMemcpyPeerAsync(target + slice * part, to, buffer[d] + slice * part, d,
                                       part * sizeof(float), stream[d]));
                OK(cudaEventRecord(end[d], stream[d]));
            }
            for (int d = 0; d < devices; ++d) {
                OK(cudaSetDevice(d));
                const int from = (d - 1 + devices) % devices;
                const int slice = (from - step + phase + 2 * devices) % devices;
                OK(cudaStreamWaitEvent(stream[d], end[from], 0));
                if (phase == 0)
                    accumulate<<<32, 256, 0, stream[d]>>>(buffer[d] + slice * part, other[d] + slice * part, part);
                OK(cudaEventRecord(begin[d], stream[d]));
            }
            // Nobody overwrites what its neighbour has not taken yet.
            for (int d = 0; d < devices; ++d) {
                OK(cudaSetDevice(d));
                OK(cudaStreamWaitEvent(stream[d], begin[(d + 1) % devices], 0));
            }
        }
    for (int d = 0; d < devices; ++d) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceSynchronize());
        std::vector<float> host(kCount);
        OK(cudaMemcpy(host.data(), buffer[d], kBytes, cudaMemcpyDeviceToHost));
        for (int i = 0; i < part * devices; ++i) {
            float expected = 0;
            for (int k = 0; k < devices; ++k) expected += static_cast<float>(k) + i % 7;
            CHECK(host[i] == expected);
        }
    }
    std::printf("all-reduce over %d devices is right\n", devices);
    return 0;
}
