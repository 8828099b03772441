// SPDX-License-Identifier: Apache-2.0
// cuGetProcAddress is asked for "cuMemAlloc" by a program made for CUDA 12.4 and gives
// cuMemAlloc_v2. Functions that are not implemented are handed out as well: the stub says its name
// when called, where a missing function would only be a zero. Source: the CUDA driver API's
// documentation.
#include "workloads/cuda_api/driver/entry_point.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <string_view>

#include "workloads/cuda_api/driver/call.h"

// The symbols under names of their own, for the types do not matter here.
#define LOCKSTEP_ENTRY(base, version, per_thread, symbol) \
    extern "C" void lockstep_entry_##symbol() asm(#symbol);
#include "workloads/cuda_api/driver/entries.inc"
#undef LOCKSTEP_ENTRY

namespace lockstep::cuda::driver {
namespace {

struct Entry {
    std::string_view base;
    int version;
    bool per_thread;
    void (*function)();
};
constexpr Entry kEntries[] = {
#define LOCKSTEP_ENTRY(base, version, per_thread, symbol) \
    {#base, version, per_thread, &lockstep_entry_##symbol},
#include "workloads/cuda_api/driver/entries.inc"
#undef LOCKSTEP_ENTRY
};

/// NVRTC asks for a table, too, and does without.
bool does_without_tables(std::string_view file) {
    return file.substr(file.rfind('/') + 1).starts_with("libnvrtc");
}

}  // namespace

void* find_entry_point(const char* name, int version, unsigned long long flags, Query& query) {
    query = Query::kNotFound;
    const Entry* best = nullptr;
    for (const Entry& entry : kEntries) {
        if (entry.base != name || (entry.per_thread && (flags & kPerThreadStream) == 0)) continue;
        if (query == Query::kNotFound) query = Query::kVersionNotSufficient;
        if (entry.version > version) continue;
        const bool better = !best || entry.per_thread > best->per_thread ||
                            (entry.per_thread == best->per_thread && entry.version > best->version);
        if (better) best = &entry;
    }
    if (!best) return nullptr;
    query = Query::kSuccess;
    return reinterpret_cast<void*>(best->function);
}

LOCKSTEP_DRIVER(cuGetProcAddress_v2, (const char* name, void** function, int version,
                                      unsigned long long flags, Query* query)) {
    if (!name || !function || (flags & ~(kLegacyStream | kPerThreadStream)) != 0)
        return Result::kInvalidValue;
    Query found{};
    *function = find_entry_point(name, version, flags, found);
    if (query) *query = found;
    return *function ? Result::kSuccess : Result::kNotFound;
}
LOCKSTEP_DRIVER(cuGetProcAddress,
                (const char* name, void** function, int version, unsigned long long flags)) {
    if (!name || !function) return Result::kInvalidValue;
    Query found{};
    *function = find_entry_point(name, version, flags, found);
    return *function ? Result::kSuccess : Result::kNotFound;
}

/// The tables are not documented: what needs one works only on NVIDIA's driver, and does not always
/// say so.
LOCKSTEP_DRIVER(cuGetExportTable, (const void** table, const Uuid* id)) {
    if (!table || !id) return Result::kInvalidValue;
    *table = nullptr;
    Dl_info caller{};
    dladdr(__builtin_return_address(0), &caller);
    if (caller.dli_fname && does_without_tables(caller.dli_fname)) return Result::kNotFound;
    static std::atomic<bool> is_reported = false;
    if (!is_reported.exchange(true))
        std::fprintf(stderr,
                     "lockstep: %s works only on NVIDIA's own driver (it asks for an undocumented "
                     "table, cuGetExportTable): not supported. What works: your own kernels, and "
                     "libraries compiled into the program (CUB, Thrust, CUTLASS)\n",
                     caller.dli_fname ? caller.dli_fname : "the program");
    cuda::Context::current().call(Waits::kNo, [](cuda::Context& context) {
        context.note_refusal();
        return Error::kSuccess;
    });
    return Result::kNotFound;
}

}  // namespace lockstep::cuda::driver
