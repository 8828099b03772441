// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that do not pass through registers (cp.async, sm_80 on).
// On sm_75 the same calls copy at once. An invalid source is not read: zeros are written.
#pragma once

template <int bytes>  // 4, 8 or 16; both addresses aligned to it
__device__ __forceinline__ void copy_async(void* shared, const void* global, bool valid) {
#if __CUDA_ARCH__ >= 800
    const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(global),
                 "n"(bytes), "r"(valid ? bytes : 0)
                 : "memory");
#else
    for (int i = 0; i < bytes / 4; ++i) {
        static_cast<int*>(shared)[i] = valid ? static_cast<const int*>(global)[i] : 0;
    }
#endif
}

__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most `groups` committed groups of this thread are still on their way.
template <int groups>
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}
