// SPDX-License-Identifier: Apache-2.0
// The runtime library on a device that has time: what calls wait for, what they see, and how long
// things take by the program's own events.
#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/workloads/cuda_api/runtime/api.h"
#include "workloads/cuda_api/state/default_stream.h"

// As the libraries have them.
LOCKSTEP_PER_THREAD(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync)
LOCKSTEP_PER_THREAD(cudaStreamSynchronize_ptsz, cudaStreamSynchronize)
LOCKSTEP_PER_THREAD(cudaStreamGetId_ptsz, cudaStreamGetId)

namespace lockstep::cuda {

extern "C" {
Error cudaMemcpy2DAsync_ptsz(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                             abi::MemcpyKind, Stream*);
Error cudaStreamSynchronize_ptsz(Stream*);
Error cudaStreamGetId(Stream*, unsigned long long*);
Error cudaStreamGetId_ptsz(Stream*, unsigned long long*);
}

namespace {

class TimelineTest : public ::testing::Test {
  protected:
    TimelineTest() {
        Configuration configuration;
        configuration.make_device = [] {
            return make_simulator(config::Machine::load("h200", {"sm.count=14"}), {});
        };
        configuration.make_statistics = [](const Device&) {
            return std::make_unique<stats::Statistics>("h200", "cycle", "test");
        };
        Context::current().configure(std::move(configuration));
        const std::string path = source_path("tests/models/gpu/data/streams_sm_90.cubin");
        std::ifstream file(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        EXPECT_EQ(
            cudaLibraryLoadData(&library, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            Error::kSuccess);
        EXPECT_EQ(cudaEventCreate(&begin), Error::kSuccess);
        EXPECT_EQ(cudaEventCreate(&end), Error::kSuccess);
    }
    ~TimelineTest() override {
        cudaLibraryUnload(library);
        Context::current().reset();
        forget_error();
    }

    template <typename T>
    T* device(std::size_t count) {
        void* pointer = nullptr;
        EXPECT_EQ(cudaMalloc(&pointer, count * sizeof(T)), Error::kSuccess);
        return static_cast<T*>(pointer);
    }
    template <typename T>
    T* pinned(std::size_t count) {
        void* pointer = nullptr;
        EXPECT_EQ(cudaMallocHost(&pointer, count * sizeof(T)), Error::kSuccess);
        return static_cast<T*>(pointer);
    }
    Stream* stream() {
        Stream* result = nullptr;
        EXPECT_EQ(cudaStreamCreateWithFlags(&result, 1), Error::kSuccess);
        return result;
    }
    template <typename... Parameters>
    void launch(Stream* to, const char* name, unsigned ctas, unsigned threads,
                Parameters... parameters) {
        Kernel* kernel = nullptr;
        ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, name), Error::kSuccess);
        void* arguments[] = {&parameters...};
        ASSERT_EQ(cudaLaunchKernel(kernel, {ctas, 1, 1}, {threads, 1, 1}, arguments, 0, to),
                  Error::kSuccess);
    }
    /// Milliseconds of the device for what `body` submits to the stream.
    double time(Stream* in, const std::function<void()>& body) {
        EXPECT_EQ(cudaEventRecord(begin, in), Error::kSuccess);
        body();
        EXPECT_EQ(cudaEventRecord(end, in), Error::kSuccess);
        EXPECT_EQ(cudaEventSynchronize(end), Error::kSuccess);
        float milliseconds = 0;
        EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), Error::kSuccess);
        return milliseconds;
    }

    Module* library = nullptr;
    Event *begin = nullptr, *end = nullptr;
};

constexpr std::size_t kBytes = 64 << 20;

TEST_F(TimelineTest, CopiesHaveTheRateOfTheirWay) {
    char* const on_device = device<char>(kBytes);
    char* const other = device<char>(kBytes);
    char* const on_host = pinned<char>(kBytes);
    std::vector<char> pageable(kBytes, 3);
    const auto rate = [&](void* to, const void* from, abi::MemcpyKind kind) {
        const double ms = time(nullptr, [&] {
            EXPECT_EQ(cudaMemcpyAsync(to, from, kBytes, kind, nullptr), Error::kSuccess);
        });
        return kBytes / ms / 1e6;  // GB/s
    };
    EXPECT_NEAR(rate(on_device, on_host, abi::kHostToDevice), 53.5, 1.5);
    EXPECT_NEAR(rate(on_host, on_device, abi::kDeviceToHost), 53, 1.5);
    const double slow = rate(on_device, pageable.data(), abi::kHostToDevice);
    EXPECT_GT(slow, 9);
    EXPECT_LT(slow, 12);
    EXPECT_EQ(on_device[kBytes - 1], 3);
    // Read and written: between 70 and 95% of the DRAM's bandwidth.
    const double within = 2 * rate(other, on_device, abi::kDeviceToDevice);
    EXPECT_GT(within, 0.70 * 4813);
    EXPECT_LT(within, 0.95 * 4813);
    const double set = kBytes / 1e6 / time(nullptr, [&] { cudaMemset(on_device, 1, kBytes); });
    EXPECT_GT(set, 0.70 * 4813);
    EXPECT_LT(set, 4813);
}

TEST_F(TimelineTest, CopiesOverlapKernelsInOtherStreams) {
    constexpr int kCount = 14 * 64, kParts = 4;
    constexpr std::size_t kPart = 1 << 20;
    char* const on_device = device<char>(kParts * kPart);
    char* const on_host = pinned<char>(kParts * kPart);
    float* const x = device<float>(kParts * kCount);
    const auto work = [&](Stream* in, int part) {
        cudaMemcpyAsync(on_device + part * kPart, on_host + part * kPart, kPart, abi::kHostToDevice,
                        in);
        launch(in, "chain", kCount / 64, 64, x + part * kCount, 4'000);
    };
    Stream* const one = stream();
    const double serial = time(one, [&] {
        for (int part = 0; part < kParts; ++part) work(one, part);
    });
    Stream* const two[] = {stream(), stream()};
    Event* done = nullptr;
    cudaEventCreate(&done);
    const double overlapped = time(one, [&] {
        for (Stream* other : two) cudaStreamWaitEvent(other, begin, 0);
        for (int part = 0; part < kParts; ++part) work(two[part % 2], part);
        for (Stream* other : two) {
            cudaEventRecord(done, other);
            cudaStreamWaitEvent(one, done, 0);
        }
    });
    EXPECT_LT(overlapped, 0.8 * serial);
}

TEST_F(TimelineTest, CallsThatDoNotWaitReturnBeforeTheWorkIsDone) {
    int* const x = device<int>(256);
    launch(nullptr, "add", 1, 256, x, 256, 1);
    EXPECT_EQ(x[0], 0);
    EXPECT_EQ(cudaStreamQuery(nullptr), Error::kNotReady);
    EXPECT_EQ(cudaEventRecord(end, nullptr), Error::kSuccess);
    EXPECT_EQ(cudaEventQuery(end), Error::kNotReady);
    float ms = 0;
    EXPECT_EQ(cudaEventElapsedTime(&ms, end, end), Error::kNotReady);
    while (cudaEventQuery(end) == Error::kNotReady) {
    }
    EXPECT_EQ(x[0], 1);
    EXPECT_EQ(cudaStreamQuery(nullptr), Error::kSuccess);
}

TEST_F(TimelineTest, PageableSourcesMayChangeOnceTheCallHasReturned) {
    int* const x = device<int>(256);
    std::vector<int> source(256, 5);
    EXPECT_EQ(cudaMemcpyAsync(x, source.data(), 1024, abi::kHostToDevice, stream()),
              Error::kSuccess);
    source.assign(256, 9);
    EXPECT_EQ(cudaDeviceSynchronize(), Error::kSuccess);
    EXPECT_EQ(x[255], 5);
    EXPECT_EQ(cudaMemcpyAsync(source.data(), x, 1024, abi::kDeviceToHost, stream()),
              Error::kSuccess);
    EXPECT_EQ(source[255], 5);
}

TEST_F(TimelineTest, KernelsThatWaitForLaterWorkOfOtherStreamsEnd) {
    int* const flag = device<int>(1);
    int* const seven = pinned<int>(1);
    *seven = 7;
    int* const out = device<int>(32);
    Stream *const a = stream(), *const b = stream();
    launch(a, "spin_until", 1, 32, flag, 7, out);
    cudaMemcpyAsync(flag, seven, sizeof(int), abi::kHostToDevice, b);
    EXPECT_EQ(cudaStreamSynchronize(a), Error::kSuccess);
    EXPECT_EQ(out[31], 7);
}

TEST_F(TimelineTest, KernelsThatWaitForAnotherThreadsWriteEnd) {
    int* const flag = pinned<int>(1);
    int* const out = device<int>(32);
    launch(nullptr, "spin_until", 1, 32, flag, 4, out);
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        *static_cast<volatile int*>(flag) = 4;
    });
    EXPECT_EQ(cudaDeviceSynchronize(), Error::kSuccess);
    other.join();
    EXPECT_EQ(out[0], 4);
}

TEST_F(TimelineTest, AHostThatSpinsOnSharedMemoryComesToAnEnd) {
    int* const flag = pinned<int>(1);
    launch(nullptr, "store", 1, 1, flag, 9);
    const volatile int* const seen = flag;
    while (*seen != 9) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(cudaDeviceSynchronize(), Error::kSuccess);
}

TEST_F(TimelineTest, AProgramThatHangsIsReported) {
    int* const flag = device<int>(1);
    int* const out = device<int>(32);
    launch(nullptr, "spin_until", 1, 32, flag, 4, out);
    GTEST_FLAG_SET(death_test_style, "fast");
    EXPECT_EXIT(cudaDeviceSynchronize(), testing::ExitedWithCode(3),
                "the program hangs.*(\n.*)*kernel spin_until in stream 0 is under way");
    flag[0] = 4;
}

TEST_F(TimelineTest, AFaultComesOutOfTheCallThatWaits) {
    launch(nullptr, "store", 1, 1, reinterpret_cast<int*>(16), 1);
    EXPECT_EQ(cudaGetLastError(), Error::kSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), Error::kIllegalAddress);
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, 16), Error::kIllegalAddress);
    Context::current().acknowledge(Error::kIllegalAddress);
    EXPECT_EQ(cudaDeviceReset(), Error::kSuccess);
}

TEST_F(TimelineTest, EventsAreOrderedAcrossStreams) {
    int* const x = device<int>(1 << 20);
    Stream *const a = stream(), *const b = stream();
    launch(a, "add", 4096, 256, x, 1 << 20, 1);
    cudaEventRecord(begin, a);
    cudaStreamWaitEvent(b, begin, 0);
    launch(b, "add", 4096, 256, x, 1 << 20, 2);
    cudaEventRecord(end, b);
    EXPECT_EQ(cudaEventSynchronize(end), Error::kSuccess);
    EXPECT_EQ(cudaEventQuery(begin), Error::kSuccess);
    float ms = 0;
    EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), Error::kSuccess);
    EXPECT_GT(ms, 0.001);
    EXPECT_EQ(x[(1 << 20) - 1], 3);
}

TEST_F(TimelineTest, NodesOfAGraphFollowFasterThanLaunches) {
    float* const x = device<float>(32);
    Stream* const in = stream();
    constexpr int kNodes = 20;
    const auto all = [&] {
        for (int i = 0; i < kNodes; ++i) launch(in, "chain", 1, 32, x, 10);
    };
    Graph* graph = nullptr;
    GraphExec* exec = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(in, abi::kCaptureGlobal), Error::kSuccess);
    all();
    ASSERT_EQ(cudaStreamEndCapture(in, &graph), Error::kSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), Error::kSuccess);
    EXPECT_EQ(x[0], 0);
    const double launched = time(in, all);
    EXPECT_GT(x[0], 190);
    const double by_graph =
        time(in, [&] { EXPECT_EQ(cudaGraphLaunch(exec, in), Error::kSuccess); });
    EXPECT_GT(x[0], 390);
    const auto machine = config::Machine::load("h200");
    const double gaps = machine->number("host.stream_gap") - machine->number("host.graph_gap");
    EXPECT_NEAR(launched - by_graph, (kNodes - 1) * gaps * 1e-6, 0.1 * kNodes * gaps * 1e-6);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

TEST_F(TimelineTest, HostFunctionsRunInStreamOrder) {
    int* const x = device<int>(256);
    launch(nullptr, "add", 1, 256, x, 256, 1);
    static int seen;
    seen = -1;
    EXPECT_EQ(cudaLaunchHostFunc(
                  nullptr, [](void* data) { seen = *static_cast<int*>(data); }, x),
              Error::kSuccess);
    launch(nullptr, "add", 1, 256, x, 256, 10);
    EXPECT_EQ(cudaDeviceSynchronize(), Error::kSuccess);
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(x[5], 11);
}

TEST_F(TimelineTest, MemoryIsFreedWhenItsStreamComesToIt) {
    int* const x = device<int>(256);
    Stream* const in = stream();
    void* pointer = nullptr;
    ASSERT_EQ(cudaMallocAsync(&pointer, 1024, in), Error::kSuccess);
    launch(in, "add", 1, 256, static_cast<int*>(pointer), 256, 1);
    EXPECT_EQ(cudaFreeAsync(pointer, in), Error::kSuccess);
    EXPECT_EQ(cudaFree(x), Error::kSuccess);  // waits for all
    EXPECT_EQ(cudaStreamQuery(in), Error::kSuccess);
    EXPECT_EQ(Context::current().memory.find(pointer).bytes, 0u);
}

TEST_F(TimelineTest, FormsForPerThreadStreamsKeepTheirParameters) {
    constexpr std::size_t kWidth = 24, kHeight = 5, kPitch = 64;
    char* const to = device<char>(kPitch * kHeight);
    std::vector<char> from(kWidth * kHeight), back(kPitch * kHeight);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i + 1);
    // Eight parameters, of which two lie on the stack.
    EXPECT_EQ(cudaMemcpy2DAsync_ptsz(to, kPitch, from.data(), kWidth, kWidth, kHeight,
                                     abi::kHostToDevice, nullptr),
              Error::kSuccess);
    EXPECT_EQ(cudaStreamSynchronize_ptsz(nullptr), Error::kSuccess);
    EXPECT_EQ(cudaMemcpy(back.data(), to, back.size(), abi::kDeviceToHost), Error::kSuccess);
    for (std::size_t i = 0; i < from.size(); ++i)
        ASSERT_EQ(back[i / kWidth * kPitch + i % kWidth], from[i]) << i;
    EXPECT_EQ(cudaStreamSynchronize_ptsz(reinterpret_cast<Stream*>(from.data())),
              Error::kInvalidResourceHandle);
    unsigned long long legacy = 0, own = 0, named = 0;
    EXPECT_EQ(cudaStreamGetId(nullptr, &legacy), Error::kSuccess);
    EXPECT_EQ(cudaStreamGetId_ptsz(nullptr, &own), Error::kSuccess);
    EXPECT_EQ(cudaStreamGetId(reinterpret_cast<Stream*>(2), &named), Error::kSuccess);
    EXPECT_NE(legacy, own);
    EXPECT_EQ(named, own);
}

}  // namespace
}  // namespace lockstep::cuda
