// SPDX-License-Identifier: Apache-2.0
// The tensor memory accelerator and mbarriers by their PTX names, sm_90. One thread starts a copy;
// what it loads is there when the mbarrier has counted its bytes, what it stores has been read when
// its group is waited for. See PTX ISA, "cp.async.bulk.tensor" and "mbarrier".
#pragma once

#include <cuda.h>

namespace tma {

using Barrier = unsigned long long;

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// `arrivals` complete a phase, once all bytes that they announced have come.
__device__ __forceinline__ void init(Barrier& barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
                 "r"(arrivals)
                 : "memory");
}
// Copies that start afterwards see what this thread has written to shared memory.
__device__ __forceinline__ void publish() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void arrive_and_expect(Barrier& barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(&barrier)),
                 "r"(bytes)
                 : "memory");
}
// Until the phase of this parity is over: 0 for the first one, then 1, 0, ...
__device__ __forceinline__ void wait(Barrier& barrier, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(shared_address(&barrier)),
        "r"(parity)
        : "memory");
}

// The box at column x, row y; what lies outside of the matrix becomes zero.
__device__ __forceinline__ void load(void* tile, const CUtensorMap& matrix, int x, int y,
                                     Barrier& barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %4}], [%2];" ::"r"(shared_address(tile)),
        "l"(&matrix), "r"(shared_address(&barrier)), "r"(x), "r"(y)
        : "memory");
}
// What lies outside of the matrix is left out.
__device__ __forceinline__ void store(const CUtensorMap& matrix, int x, int y, const void* tile) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
            &matrix),
        "r"(shared_address(tile)), "r"(x), "r"(y)
        : "memory");
}
__device__ __forceinline__ void commit_stores() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Until the tiles of all but the last `groups` groups have been read.
template <int groups>
__device__ __forceinline__ void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory");
}

}  // namespace tma
