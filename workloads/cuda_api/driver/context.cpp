// SPDX-License-Identifier: Apache-2.0
// Initialisation and contexts. A thread has a stack of contexts, the top of which is current and
// chooses its device. All contexts of a device share its memory, modules and streams, as the
// primary one does with the runtime API: programs that use several to keep things apart find them
// together.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {

struct ContextHandle {
    unsigned flags = 0;
    unsigned long long id = 0;
    Device device = 0;
};

namespace {

constexpr unsigned kMostDevices = DeviceGroup::kMostDevices;

constexpr unsigned kContextFlags = 0xff;  ///< CU_CTX_FLAGS_MASK
constexpr unsigned kApiVersion = 3020;    ///< of the interface of contexts

std::atomic<bool> initialized = false;
thread_local std::vector<ContextHandle*> stack;

/// The contexts that exist.
struct Contexts {
    std::mutex lock;
    ContextHandle primary[kMostDevices];  ///< by device, as the following
    unsigned primary_uses[kMostDevices] = {};
    std::vector<std::unique_ptr<ContextHandle>> created;
    unsigned long long next_id = 1 + kMostDevices;

    Contexts() {
        for (unsigned i = 0; i < kMostDevices; ++i) {
            primary[i].id = i + 1;
            primary[i].device = static_cast<Device>(i);
        }
    }
    bool is_primary(const ContextHandle* context) const {
        return context >= primary && context < primary + kMostDevices;
    }
    bool contains(const ContextHandle* context) {
        const std::lock_guard guard(lock);
        return is_primary(context) ||
               std::any_of(created.begin(), created.end(),
                           [&](const auto& other) { return other.get() == context; });
    }
};
Contexts& contexts() {
    static Contexts& all = *new Contexts;
    return all;
}

/// The current context's device is the thread's.
void follow_stack() {
    if (!stack.empty()) cuda::Context::select_device(static_cast<unsigned>(stack.back()->device));
}

Result check_device(Device device) {
    if (!is_initialized()) return Result::kNotInitialized;
    return has_device(device) ? Result::kSuccess : Result::kInvalidDevice;
}

Result create(ContextHandle** result, unsigned flags, Device device) {
    if (const Result error = check_device(device); error != Result::kSuccess) return error;
    if (!result || (flags & ~kContextFlags) != 0) return Result::kInvalidValue;
    const Result made = in_device([](cuda::Context& context) {
        context.device();
        return Error::kSuccess;
    });
    if (made != Result::kSuccess) return made;
    Contexts& all = contexts();
    const std::lock_guard guard(all.lock);
    all.created.push_back(
        std::make_unique<ContextHandle>(ContextHandle{flags, all.next_id++, device}));
    *result = all.created.back().get();
    stack.push_back(*result);
    follow_stack();
    return Result::kSuccess;
}

Result release_primary(Device device) {
    if (const Result error = check_device(device); error != Result::kSuccess) return error;
    Contexts& all = contexts();
    const std::lock_guard guard(all.lock);
    unsigned& uses = all.primary_uses[device];
    if (uses == 0) return Result::kInvalidContext;
    --uses;
    return Result::kSuccess;
}

/// The current context where `context` is nullptr.
Result with_handle(ContextHandle* context, auto body) {
    if (!is_initialized()) return Result::kNotInitialized;
    ContextHandle* const handle = context ? context : current_context();
    if (!handle || !contexts().contains(handle)) return Result::kInvalidContext;
    return body(*handle);
}

}  // namespace

/// The runtime API initialises the driver with its first call.
bool is_initialized() {
    return initialized || cuda::Context::current().is_used();
}

ContextHandle* current_context() {
    const unsigned device = cuda::Context::current_device();
    // The runtime API may have chosen another device since.
    if (!stack.empty())
        return static_cast<unsigned>(stack.back()->device) == device ? stack.back()
                                                                     : &contexts().primary[device];
    return cuda::Context::is_bound_to_thread() ? &contexts().primary[device] : nullptr;
}

LOCKSTEP_DRIVER(cuInit, (unsigned flags)) {
    if (flags != 0) return Result::kInvalidValue;
    initialized = true;
    return Result::kSuccess;
}

LOCKSTEP_DRIVER(cuDevicePrimaryCtxRetain, (ContextHandle * *context, Device device)) {
    if (const Result error = check_device(device); error != Result::kSuccess) return error;
    if (!context) return Result::kInvalidValue;
    Contexts& all = contexts();
    const std::lock_guard guard(all.lock);
    ++all.primary_uses[device];
    *context = &all.primary[device];
    return Result::kSuccess;
}
LOCKSTEP_DRIVER(cuDevicePrimaryCtxRelease_v2, (Device device)) {
    return release_primary(device);
}
LOCKSTEP_DRIVER(cuDevicePrimaryCtxRelease, (Device device)) {
    return release_primary(device);
}
LOCKSTEP_DRIVER(cuDevicePrimaryCtxReset_v2, (Device device)) {
    if (const Result error = check_device(device); error != Result::kSuccess) return error;
    cuda::Context::current().reset_device();
    return Result::kSuccess;
}
LOCKSTEP_DRIVER(cuDevicePrimaryCtxSetFlags_v2, (Device device, unsigned flags)) {
    if (const Result error = check_device(device); error != Result::kSuccess) return error;
    if ((flags & ~kContextFlags) != 0) return Result::kInvalidValue;
    contexts().primary[device].flags = flags;
    return Result::kSuccess;
}
LOCKSTEP_DRIVER(cuDevicePrimaryCtxGetState, (Device device, unsigned* flags, int* active)) {
    if (const Result error = check_device(device); error != Result::kSuccess) return error;
    if (!flags || !active) return Result::kInvalidValue;
    *flags = contexts().primary[device].flags;
    *active = contexts().primary_uses[device] != 0 || cuda::Context::is_bound_to_thread();
    return Result::kSuccess;
}

LOCKSTEP_DRIVER(cuCtxCreate_v2, (ContextHandle * *context, unsigned flags, Device device)) {
    return create(context, flags, device);
}
LOCKSTEP_DRIVER(cuCtxCreate_v3, (ContextHandle * *context, void* affinity, int count,
                                 unsigned flags, Device device)) {
    if (affinity || count != 0) return Result::kNotSupported;
    return create(context, flags, device);
}
LOCKSTEP_DRIVER(cuCtxCreate_v4, (ContextHandle * *context, const ContextParameters* p,
                                 unsigned flags, Device device)) {
    if (p && (p->execAffinityParams || p->numExecAffinityParams != 0 || p->cigParams))
        return Result::kNotSupported;
    return create(context, flags, device);
}
LOCKSTEP_DRIVER(cuCtxDestroy_v2, (ContextHandle * context)) {
    if (!is_initialized()) return Result::kNotInitialized;
    Contexts& all = contexts();
    if (!context || all.is_primary(context) || !all.contains(context))
        return Result::kInvalidContext;
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    follow_stack();
    const std::lock_guard guard(all.lock);
    std::erase_if(all.created, [&](const auto& other) { return other.get() == context; });
    return Result::kSuccess;
}
LOCKSTEP_DRIVER(cuCtxPushCurrent_v2, (ContextHandle * context)) {
    if (!is_initialized()) return Result::kNotInitialized;
    if (!context || !contexts().contains(context)) return Result::kInvalidContext;
    stack.push_back(context);
    follow_stack();
    return Result::kSuccess;
}
LOCKSTEP_DRIVER(cuCtxPopCurrent_v2, (ContextHandle * *context)) {
    if (!is_initialized()) return Result::kNotInitialized;
    ContextHandle* const current = current_context();
    if (!current) return Result::kInvalidContext;
    if (stack.empty())
        cuda::Context::bind_to_thread(false);
    else
        stack.pop_back();
    follow_stack();
    if (context) *context = current;
    return Result::kSuccess;
}
LOCKSTEP_DRIVER(cuCtxSetCurrent, (ContextHandle * context)) {
    if (!is_initialized()) return Result::kNotInitialized;
    if (context && !contexts().contains(context)) return Result::kInvalidContext;
    if (!stack.empty()) stack.pop_back();
    if (context)
        stack.push_back(context);
    else if (stack.empty())
        cuda::Context::bind_to_thread(false);
    follow_stack();
    return Result::kSuccess;
}
LOCKSTEP_DRIVER(cuCtxGetCurrent, (ContextHandle * *context)) {
    if (!is_initialized()) return Result::kNotInitialized;
    if (!context) return Result::kInvalidValue;
    *context = current_context();
    return Result::kSuccess;
}
LOCKSTEP_DRIVER(cuCtxGetDevice, (Device * device)) {
    return call([&] { return store(device, current_context()->device); });
}
LOCKSTEP_DRIVER(cuCtxGetDevice_v2, (Device * device, ContextHandle* context)) {
    return with_handle(context,
                       [&](ContextHandle& c) { return result_of(store(device, c.device)); });
}
LOCKSTEP_DRIVER(cuCtxGetFlags, (unsigned* flags)) {
    return with_handle(nullptr, [&](ContextHandle& c) { return result_of(store(flags, c.flags)); });
}
LOCKSTEP_DRIVER(cuCtxSetFlags, (unsigned flags)) {
    return with_handle(nullptr, [&](ContextHandle& c) {
        if ((flags & ~kContextFlags) != 0) return Result::kInvalidValue;
        c.flags = flags;
        return Result::kSuccess;
    });
}
LOCKSTEP_DRIVER(cuCtxGetId, (ContextHandle * context, unsigned long long* id)) {
    return with_handle(context, [&](ContextHandle& c) { return result_of(store(id, c.id)); });
}
LOCKSTEP_DRIVER(cuCtxGetApiVersion, (ContextHandle * context, unsigned* version)) {
    return with_handle(context,
                       [&](ContextHandle&) { return result_of(store(version, kApiVersion)); });
}

LOCKSTEP_DRIVER(cuCtxSynchronize, ()) {
    return call([] { return cudaDeviceSynchronize(); });
}
LOCKSTEP_DRIVER(cuCtxSynchronize_v2, (ContextHandle * context)) {
    return with_handle(context, [](ContextHandle&) {
        return result_of(cuda::Context::current().call(
            Waits::kYes, [](cuda::Context& state) { return state.streams.synchronize_all(); }));
    });
}
LOCKSTEP_DRIVER(cuCtxSetLimit, (abi::Limit limit, std::size_t value)) {
    return call([&] { return cudaDeviceSetLimit(limit, value); });
}
LOCKSTEP_DRIVER(cuCtxGetLimit, (std::size_t * value, abi::Limit limit)) {
    return call([&] { return cudaDeviceGetLimit(value, limit); });
}
LOCKSTEP_DRIVER(cuCtxGetCacheConfig, (int* config)) {
    return call([&] { return cudaDeviceGetCacheConfig(config); });
}
LOCKSTEP_DRIVER(cuCtxSetCacheConfig, (int config)) {
    return call([&] { return cudaDeviceSetCacheConfig(config); });
}
LOCKSTEP_DRIVER(cuCtxGetSharedMemConfig, (int* config)) {
    return call([&] { return cudaDeviceGetSharedMemConfig(config); });
}
LOCKSTEP_DRIVER(cuCtxSetSharedMemConfig, (int config)) {
    return call([&] { return cudaDeviceSetSharedMemConfig(config); });
}
LOCKSTEP_DRIVER(cuCtxGetStreamPriorityRange, (int* least, int* greatest)) {
    return call([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
LOCKSTEP_DRIVER(cuCtxResetPersistingL2Cache, ()) {
    return call([] { return Error::kSuccess; });
}
LOCKSTEP_DRIVER(cuCtxEnablePeerAccess, (ContextHandle * peer, unsigned flags)) {
    if (!peer || !contexts().contains(peer)) return Result::kInvalidContext;
    if (flags != 0) return Result::kInvalidValue;
    return in_context(
        [&](cuda::Context& context) { return enable_peer_access(context, peer->device); });
}
LOCKSTEP_DRIVER(cuCtxDisablePeerAccess, (ContextHandle * peer)) {
    if (!peer || !contexts().contains(peer)) return Result::kInvalidContext;
    return in_context(
        [&](cuda::Context& context) { return disable_peer_access(context, peer->device); },
        Waits::kYes);
}

}  // namespace lockstep::cuda::driver
