// SPDX-License-Identifier: Apache-2.0
// A barrier at each window's begin and end: spin for the time that a window takes, then sleep, so
// that a pool costs nothing while the host does something else. Shares are fixed ranges, so that a
// Tile mostly stays in one core's cache; a thread that is done takes from the others' shares, and
// a worker that has not come when all tasks are taken finds the gate closed: on a busy host, where
// it may not run for milliseconds, nobody waits for it. Who waits in the end is only run() for
// tasks that a worker has begun.
#include "sim/engine/worker_pool.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep::engine {
namespace {

constexpr unsigned kSpins = 1000;  // tens of microseconds: longer than waking a thread takes

void relax() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

}  // namespace

WorkerPool::WorkerPool(unsigned threads)
    : threads_(threads == 0 ? 1 : threads),
      spins_(threads_ <= std::thread::hardware_concurrency() ? kSpins : 0),
      shares_(std::make_unique<Share[]>(threads_)) {
    for (unsigned i = 1; i < threads_; ++i) workers_.emplace_back([this, i] { serve(i); });
}

WorkerPool::~WorkerPool() {
    stopping_.store(true, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::spin_then_wait(const std::atomic<std::uint32_t>& value, std::uint32_t old) const {
    for (unsigned i = 0; i < spins_; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        relax();
    }
    value.wait(old, std::memory_order_acquire);
}

bool WorkerPool::enter() {
    std::uint32_t gate = gate_.load(std::memory_order_relaxed);
    while ((gate & kClosed) == 0)
        if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire)) return true;
    return false;
}

void WorkerPool::serve(unsigned self) {
    for (std::uint32_t seen = 0;;) {
        spin_then_wait(epoch_, seen);
        seen = epoch_.load(std::memory_order_acquire);
        if (stopping_.load(std::memory_order_relaxed)) return;
        if (!enter()) continue;
        work(self);
        if (gate_.fetch_sub(1, std::memory_order_release) == (kClosed | 1)) gate_.notify_one();
    }
}

void WorkerPool::work(unsigned self) {
    for (unsigned i = 0; i < threads_; ++i) {
        Share& share = shares_[(self + i) % threads_];
        while (share.next.load(std::memory_order_relaxed) < share.end) {
            const std::uint32_t index = share.next.fetch_add(1, std::memory_order_relaxed);
            if (index >= share.end) break;
            (*task_)(index);
        }
    }
}

void WorkerPool::run(std::uint32_t count, const Task& task, const std::function<void()>& here) {
    if (workers_.empty() || count < 2) {
        here();
        for (std::uint32_t i = 0; i < count; ++i) task(i);
        return;
    }
    task_ = &task;
    for (unsigned i = 0; i < threads_; ++i) {
        shares_[i].next.store(static_cast<std::uint32_t>(std::uint64_t{count} * i / threads_),
                              std::memory_order_relaxed);
        shares_[i].end = static_cast<std::uint32_t>(std::uint64_t{count} * (i + 1) / threads_);
    }
    gate_.store(0, std::memory_order_release);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
    here();
    work(0);
    gate_.fetch_or(kClosed, std::memory_order_relaxed);
    for (std::uint32_t gate; (gate = gate_.load(std::memory_order_acquire)) != kClosed;)
        spin_then_wait(gate_, gate);
}

}  // namespace lockstep::engine
