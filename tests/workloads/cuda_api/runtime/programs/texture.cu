// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects on linear memory, pitched memory, arrays, layers and mipmaps.
#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"

constexpr int kWidth = 37, kHeight = 21;

__global__ void fetch(cudaTextureObject_t texture, float* out) {
    const int i = static_cast<int>(threadIdx.x) - 2;
    out[threadIdx.x] = tex1Dfetch<float>(texture, i);
}

__global__ void sample(cudaTextureObject_t texture, float* out, float step_x, float step_y,
                       float from_x, float from_y) {
    const int x = threadIdx.x, y = blockIdx.x;
    out[y * kWidth + x] = tex2D<float>(texture, fmaf(x, step_x, from_x), fmaf(y, step_y, from_y));
}

__global__ void sample_colors(cudaTextureObject_t texture, float4* out) {
    out[blockIdx.x * kWidth + threadIdx.x] =
        tex2D<float4>(texture, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}

__global__ void sample_volume(cudaTextureObject_t volume, cudaTextureObject_t layers, float* out) {
    const int i = threadIdx.x, x = i % 4, y = i / 4 % 4, z = i / 16;
    out[i] = tex3D<float>(volume, x + 0.75f, y + 0.5f, z + 1.0f);
    out[64 + i] = tex2DLayered<float>(layers, x + 0.5f, y + 0.5f, z);
}

__global__ void sample_by_lane(const cudaTextureObject_t* textures, float* out) {
    out[threadIdx.x] = tex2D<float>(textures[threadIdx.x % 2], threadIdx.x / 2 + 0.5f, 0.5f);
}

__global__ void add_right(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    const int x = threadIdx.x * 4, y = blockIdx.x;
    const float right = surf2Dread<float>(from, x + 4, y, cudaBoundaryModeZero);
    surf2Dwrite<float>(surf2Dread<float>(from, x, y) + right, to, x, y);
}

static std::vector<float> image() {
    std::vector<float> values(kWidth * kHeight);
    for (int i = 0; i < kWidth * kHeight; ++i) values[i] = (i * 7919 % 1000) / 8.0f;
    return values;
}
static const std::vector<float> kImage = image();

static cudaTextureObject_t make(const cudaResourceDesc& resource, const cudaTextureDesc& texture) {
    cudaTextureObject_t object = 0;
    OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    return object;
}

static cudaResourceDesc of(cudaArray_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static int addressed(int i, int n, int mode) {
    if (mode == cudaAddressModeClamp) return i < 0 ? 0 : i >= n ? n - 1 : i;
    if (mode == cudaAddressModeWrap) return (i % n + n) % n;
    if (mode == cudaAddressModeMirror) return (i = (i % (2 * n) + 2 * n) % (2 * n)) < n ? i : 2 * n - 1 - i;
    return i < 0 || i >= n ? -1 : i;
}
static double at(int x, int y, int mode) {
    x = addressed(x, kWidth, mode), y = addressed(y, kHeight, mode);
    return x < 0 || y < 0 ? 0 : kImage[y * kWidth + x];
}

/// As the Programming Guide's formulas have it.
static float expected(double x, double y, int mode, bool is_linear) {
    if (!is_linear) return static_cast<float>(at(std::floor(x), std::floor(y), mode));
    const double fx = std::floor((x - 0.5) * 256 + 0.5) / 256, fy = std::floor((y - 0.5) * 256 + 0.5) / 256;
    const int i = std::floor(fx), j = std::floor(fy);
    const double a = fx - i, b = fy - j;
    return static_cast<float>((1 - a) * (1 - b) * at(i, j, mode) + a * (1 - b) * at(i + 1, j, mode) +
                              (1 - a) * b * at(i, j + 1, mode) + a * b * at(i + 1, j + 1, mode));
}

int main() {
    float* out = nullptr;
    OK(cudaMallocManaged(&out, 1 << 16));
    cudaTextureDesc point{};
    for (auto& mode : point.addressMode) mode = cudaAddressModeClamp;
    cudaTextureDesc linear = point;
    linear.filterMode = cudaFilterModeLinear;

    float* row = nullptr;
    OK(cudaMalloc(&row, kWidth * 4));
    OK(cudaMemcpy(row, kImage.data(), kWidth * 4, cudaMemcpyDefault));
    cudaResourceDesc buffer{};
    buffer.resType = cudaResourceTypeLinear;
    buffer.res.linear.devPtr = row;
    buffer.res.linear.desc = cudaCreateChannelDesc<float>();
    buffer.res.linear.sizeInBytes = kWidth * 4;
    fetch<<<1, kWidth + 4>>>(make(buffer, point), out);
    OK(cudaDeviceSynchronize());
    for (int i = -2; i < kWidth + 2; ++i)
        EXPECT(out[i + 2] == (i < 0 || i >= kWidth ? 0 : kImage[i]));

    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    OK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(array, 0, 0, kImage.data(), kWidth * 4, kWidth * 4, kHeight,
                           cudaMemcpyHostToDevice));
    for (int mode = 0; mode < 4; ++mode)
        for (const bool is_linear : {false, true}) {
            cudaTextureDesc texture = is_linear ? linear : point;
            texture.addressMode[0] = texture.addressMode[1] = static_cast<cudaTextureAddressMode>(mode);
            texture.normalizedCoords = 1;
            // Steps that normalised coordinates hold exactly enough: no texel lies at an edge.
            const float sx = 1.375f / kWidth, sy = 0.625f / kHeight, x0 = -5.3f / kWidth, y0 = -3.7f / kHeight;
            sample<<<kHeight, kWidth>>>(make(of(array), texture), out, sx, sy, x0, y0);
            OK(cudaDeviceSynchronize());
            for (int y = 0; y < kHeight; ++y)
                for (int x = 0; x < kWidth; ++x) {
                    const double u = fmaf(x, sx, x0), v = fmaf(y, sy, y0);
                    EXPECT(out[y * kWidth + x] == expected(u * kWidth, v * kHeight, mode, is_linear));
                }
        }

    uchar4* colors = nullptr;
    std::size_t pitch = 0;
    OK(cudaMallocPitch(&colors, &pitch, kWidth * 4, kHeight));
    std::vector<uchar4> host(kWidth * kHeight);
    for (int i = 0; i < kWidth * kHeight; ++i) host[i] = make_uchar4(i, 3 * i, 5 * i, 7 * i);
    OK(cudaMemcpy2D(colors, pitch, host.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyDefault));
    cudaResourceDesc plane{};
    plane.resType = cudaResourceTypePitch2D;
    plane.res.pitch2D = {colors, cudaCreateChannelDesc<uchar4>(), kWidth, kHeight, pitch};
    cudaTextureDesc normalized = linear;
    normalized.readMode = cudaReadModeNormalizedFloat;
    sample_colors<<<kHeight, kWidth>>>(make(plane, normalized), reinterpret_cast<float4*>(out));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < kWidth * kHeight; ++i) {
        EXPECT(out[4 * i] == host[i].x / 255.0f);
        EXPECT(out[4 * i + 3] == host[i].w / 255.0f);
    }
    cudaTextureObject_t none = 0;
    EXPECT(cudaCreateTextureObject(&none, &plane, &linear, nullptr) == cudaErrorInvalidFilterSetting);

    const cudaExtent extent = make_cudaExtent(4, 4, 4);
    cudaArray_t volume = nullptr, layers = nullptr;
    OK(cudaMalloc3DArray(&volume, &format, extent));
    OK(cudaMalloc3DArray(&layers, &format, extent, cudaArrayLayered));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(kImage.data()), 16, 4, 4);
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    copy.dstArray = volume;
    OK(cudaMemcpy3D(&copy));
    copy.dstArray = layers;
    OK(cudaMemcpy3D(&copy));
    sample_volume<<<1, 64>>>(make(of(volume), linear), make(of(layers), point), out);
    OK(cudaDeviceSynchronize());
    const auto voxel = [](int x, int y, int z) {
        return kImage[((z < 3 ? z : 3) * 4 + y) * 4 + (x < 3 ? x : 3)];
    };
    for (int i = 0; i < 64; ++i) {
        const int x = i % 4, y = i / 4 % 4, z = i / 16;
        EXPECT(out[i] == 0.5f * (0.75f * voxel(x, y, z) + 0.25f * voxel(x + 1, y, z) +
                                 0.75f * voxel(x, y, z + 1) + 0.25f * voxel(x + 1, y, z + 1)));
        EXPECT(out[64 + i] == kImage[i]);
    }

    cudaArray_t other = nullptr;
    OK(cudaMallocArray(&other, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
    cudaResourceDesc ends[] = {of(array), of(other)};
    cudaSurfaceObject_t surfaces[2] = {};
    for (int i = 0; i < 2; ++i) OK(cudaCreateSurfaceObject(&surfaces[i], &ends[i]));
    add_right<<<kHeight, kWidth>>>(surfaces[0], surfaces[1]);
    std::vector<float> sums(kWidth * kHeight);
    OK(cudaMemcpy2DFromArray(sums.data(), kWidth * 4, other, 0, 0, kWidth * 4, kHeight,
                             cudaMemcpyDeviceToHost));
    for (int i = 0; i < kWidth * kHeight; ++i)
        EXPECT(sums[i] == kImage[i] + (i % kWidth + 1 < kWidth ? kImage[i + 1] : 0));

    cudaTextureObject_t* textures = nullptr;
    OK(cudaMallocManaged(&textures, 2 * sizeof(*textures)));
    for (int i = 0; i < 2; ++i) textures[i] = make(ends[i], point);
    sample_by_lane<<<1, 32>>>(textures, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; ++i) EXPECT(out[i] == (i % 2 ? sums : kImage)[i / 2]);

    cudaMipmappedArray_t mipmap = nullptr;
    OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(8, 8, 0), 4));
    cudaArray_t level = nullptr;
    OK(cudaGetMipmappedArrayLevel(&level, mipmap, 2));
    cudaExtent size{};
    OK(cudaArrayGetInfo(nullptr, &size, nullptr, level));
    EXPECT(size.width == 2 && size.height == 2);
    OK(cudaFreeMipmappedArray(mipmap));
    OK(cudaFreeArray(array));
    EXPECT(cudaFreeArray(array) != cudaSuccess);
    std::puts("textures are right");
}
