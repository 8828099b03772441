// SPDX-License-Identifier: Apache-2.0
// A CUDA program in plain C++: registers a fatbin as the code that nvcc generates does, then adds
// two vectors with a kernel from it, or does something wrong. Arguments: mode, cubin.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

struct Dim3 {
    unsigned x, y, z;
};

struct Wrapper {
    int magic, version;
    const void* data;
    void* unused;
};

extern "C" {
void** __cudaRegisterFatBinary(Wrapper*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*);
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, std::size_t, void*);
int cudaMalloc(void**, std::size_t);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpy_ptds(void*, const void*, std::size_t, int);
int cudaGetLastError();
int cudaDeviceSynchronize();
int cudaRuntimeGetVersion(int*);
int cudaGraphicsMapResources();
}

namespace {

/// A fatbin with one uncompressed image for sm_90.
std::vector<std::uint64_t> fatbin_of(const std::string& cubin) {
    const std::uint64_t padded = (cubin.size() + 7) / 8 * 8;
    std::vector<std::uint64_t> words(2 + 8 + padded / 8);
    constexpr std::uint64_t kFatbin = 0x0010'0001'ba55'ed50, kElfEntry = 0x0000'0040'0101'0002;
    words[0] = kFatbin;  // magic, version 1, header of 16 bytes
    words[1] = 64 + padded;
    words[2] = kElfEntry;  // kind, version, header of 64 bytes
    words[3] = padded;
    words[5] = std::uint64_t{90} << 32 | 0x0001'0007;  // architecture; version 1.7
    words[7] = 0x11;                                   // 64-bit, Linux
    std::memcpy(&words[10], cubin.data(), cubin.size());
    return words;
}

const char kernel = 0;  // its address stands for the kernel, as a host stub's does

}  // namespace

int main(int count, char** values) {
    if (count != 3) return 90;
    const char* const mode = values[1];
    if (std::strcmp(mode, "unimplemented") == 0) return cudaGraphicsMapResources();
    std::ifstream file(values[2], std::ios::binary);
    const std::string cubin{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::uint64_t> fatbin = fatbin_of(cubin);
    Wrapper wrapper{0x466243b1, 1, fatbin.data(), nullptr};
    void** const module = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(module, &kernel, nullptr, "vector_add", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(module);
    int version = 0;
    if (cudaRuntimeGetVersion(&version) != 0 || version / 1000 != LOCKSTEP_CUDART) return 91;
    int n = 1000;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
    std::vector<float> a(1000), b(1000), c(1000);
    for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i), b[i] = 2.0f * static_cast<float>(i);
    void *da = nullptr, *db = nullptr, *dc = nullptr;
    if (cudaMalloc(&da, bytes) || cudaMalloc(&db, bytes) || cudaMalloc(&dc, bytes)) return 94;
    if (cudaMemcpy(da, a.data(), bytes, 1) || cudaMemcpy_ptds(db, b.data(), bytes, 1)) return 95;
    if (std::strcmp(mode, "run") != 0) dc = reinterpret_cast<void*>(16);
    void* arguments[] = {&da, &db, &dc, &n};
    if (cudaLaunchKernel(&kernel, {4, 1, 1}, {256, 1, 1}, arguments, 0, nullptr) != 0) return 96;
    const int status = cudaDeviceSynchronize();
    if (std::strcmp(mode, "unseen_fault") == 0) return 0;
    if (std::strcmp(mode, "fault") == 0) return status == 700 && cudaGetLastError() == 700 ? 0 : 97;
    if (status != 0 || cudaMemcpy(c.data(), dc, bytes, 2) != 0) return 98;
    for (int i = 0; i < n; ++i)
        if (c[i] != 3.0f * static_cast<float>(i)) return 99;
    __cudaUnregisterFatBinary(module);
    return 0;
}
