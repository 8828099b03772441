// SPDX-License-Identifier: Apache-2.0
// Kernel launches and host functions in streams.
#include "workloads/cuda_api/state/launch.h"

#include <utility>

#include "workloads/cuda_api/runtime/functions.h"

namespace lockstep::cuda {
namespace {

Error launch(const void* function, abi::Dim3 grid, abi::Dim3 block, void** arguments,
             std::size_t shared, Stream* stream, bool cooperative) {
    return call([&](Context& context) {
        KernelLaunch launch;
        const Error error = make_launch(context, function, grid, block, arguments, shared, launch);
        if (error != Error::kSuccess) return error;
        launch.cooperative = cooperative;
        return context.streams.submit(stream, std::move(launch));
    });
}

}  // namespace

LOCKSTEP_CUDA Error cudaLaunchKernel(const void* function, abi::Dim3 grid, abi::Dim3 block,
                                     void** arguments, std::size_t shared, Stream* stream) {
    return launch(function, grid, block, arguments, shared, stream, false);
}

LOCKSTEP_CUDA Error __cudaLaunchKernel(Kernel* kernel, abi::Dim3 grid, abi::Dim3 block,
                                       void** arguments, std::size_t shared, Stream* stream) {
    return launch(kernel, grid, block, arguments, shared, stream, false);
}

LOCKSTEP_CUDA Error cudaLaunchCooperativeKernel(const void* function, abi::Dim3 grid,
                                                abi::Dim3 block, void** arguments,
                                                std::size_t shared, Stream* stream) {
    return launch(function, grid, block, arguments, shared, stream, true);
}

Error launch_kernel(const abi::LaunchConfig& config, const void* function, void** arguments,
                    void** extra) {
    return call([&](Context& context) {
        if (config.numAttrs != 0 && !config.attrs) return Error::kInvalidValue;
        KernelLaunch launch;
        Error error = make_launch(context, function, config.gridDim, config.blockDim, arguments,
                                  config.dynamicSmemBytes, launch, extra);
        if (error != Error::kSuccess) return error;
        for (unsigned i = 0; i < config.numAttrs; ++i) {
            error = set_attribute(launch, config.attrs[i].id, config.attrs[i].val);
            if (error != Error::kSuccess) return error;
        }
        error = context.streams.submit(config.stream, launch);
        if (error != Error::kSuccess) return error;
        for (unsigned i = 0; i < config.numAttrs; ++i)
            if (config.attrs[i].id == abi::kLaunchAttributeProgrammaticEvent ||
                config.attrs[i].id == abi::kLaunchAttributeLaunchCompletionEvent)
                error = context.streams.record(config.attrs[i].val.programmaticEvent.event,
                                               config.stream);
        return error;
    });
}

LOCKSTEP_CUDA Error cudaLaunchKernelExC(const abi::LaunchConfig* config, const void* function,
                                        void** arguments) {
    if (!config) return call([](Context&) { return Error::kInvalidValue; });
    return launch_kernel(*config, function, arguments, nullptr);
}

LOCKSTEP_CUDA Error cudaLaunchHostFunc(Stream* stream, abi::HostFunction function, void* data) {
    return call([&](Context& context) {
        return context.streams.submit(stream, HostCall{function, data});
    });
}

LOCKSTEP_CUDA Error cudaStreamAddCallback(Stream* stream, abi::StreamCallback function, void* data,
                                          unsigned flags) {
    return call([&](Context& context) {
        if (flags != 0) return Error::kInvalidValue;
        if (Stream* target = context.streams.find(stream); target && target->capturing())
            return Error::kStreamCaptureUnsupported;
        return context.streams.submit(stream, StreamCall{function, stream, data});
    });
}

}  // namespace lockstep::cuda
