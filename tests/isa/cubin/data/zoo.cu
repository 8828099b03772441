// SPDX-License-Identifier: Apache-2.0
// One kernel for each thing that a cubin can hold; make.sh compiles it.
#include <cassert>
#include <cstdio>

__constant__ float coefficients[4] = {1, 2, 3, 4};
__constant__ int zero_constants[8];
__device__ int counter;
__device__ int table[4] = {5, 6, 7, 8};
__device__ int* pointer = &table[2];

struct Shape {
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float side;
    __device__ Square(float x) : side(x) {}
    __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
    float radius;
    __device__ Circle(float x) : radius(x) {}
    __device__ float area() const override { return 3.f * radius * radius; }
};

__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float multiply(float a, float b) { return a * b; }
using Operation = float (*)(float, float);
__device__ Operation operations[2] = {add, multiply};

struct Big {
    int values[300];
};

extern "C" {

__global__ void plain(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i] * coefficients[i & 3];
}

__global__ void __launch_bounds__(128, 2) shared(float* a) {
    __shared__ float fixed[100];
    extern __shared__ float dynamic[];
    fixed[threadIdx.x % 100] = a[threadIdx.x];
    dynamic[threadIdx.x] = 1;
    __syncthreads();
    a[threadIdx.x] = fixed[(threadIdx.x + 1) % 100] + dynamic[threadIdx.x ^ 1];
}

__global__ void printing(int n) {
    printf("hello %d\n", n);
    assert(n > 3);
}

__global__ void heap(int** p) {
    int* q = (int*)malloc(16);
    q[0] = 1;
    *p = q;
    free(q);
}

__global__ void recursion(int* p, int n) {
    *p = fibonacci(n) + atomicAdd(&counter, 1) + *pointer + zero_constants[n];
}

__global__ void indirect(float* p, int k) { *p = operations[k](p[1], p[2]); }

__global__ void virtuals(float* p, int k) {
    Square a(p[1]);
    Circle b(p[2]);
    Shape* shape = k ? (Shape*)&a : (Shape*)&b;
    *p = shape->area();
}

__global__ void big(Big b, int i, char c, double d, int* out) { *out = b.values[i] + c + (int)d; }

__global__ void local(int* p) {
    int values[20];
    for (int i = 0; i < 20; i++) values[i] = p[i];
    for (int i = 0; i < 20; i++) values[p[i] % 20] += i;
    *p = values[p[7]] + values[p[9]];
}

__global__ void switcher(int* p, int k) {
    switch (k) {
        case 0: *p = 5; break;
        case 1: *p = p[3]; break;
        case 2: p[4] = *p * 3; break;
        case 3: *p ^= 77; break;
        case 4: p[9] = p[8]; break;
        case 5: p[1] = 7; break;
        case 6: p[7]++; break;
        case 7: __syncthreads(); p[0] = 1; break;
    }
}

#if __CUDA_ARCH__ >= 900
__managed__ int managed_array[4] = {1, 2, 3, 4};
__global__ void __cluster_dims__(2, 1, 1) clustered(int* p) { p[blockIdx.x] = managed_array[p[1]]; }
#endif
}
