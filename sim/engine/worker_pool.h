// SPDX-License-Identifier: Apache-2.0
// Persistent host threads that run the Tiles of one window side by side.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace lockstep::engine {

class WorkerPool {
  public:
    /// The calling thread is one of the threads.
    explicit WorkerPool(unsigned threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    using Task = std::function<void(std::uint32_t)>;

    /// Runs here(), on the calling thread, and task(0) .. task(count - 1), on any, and returns when
    /// all are done. Tasks must not throw.
    void run(std::uint32_t count, const Task& task, const std::function<void()>& here);

  private:
    /// A thread's share of the tasks; the others help when they are done with theirs.
    struct alignas(64) Share {
        std::atomic<std::uint32_t> next{0};
        std::uint32_t end = 0;
    };

    static constexpr std::uint32_t kClosed = 1u << 31;

    bool enter();
    void work(unsigned self);
    void serve(unsigned self);
    void spin_then_wait(const std::atomic<std::uint32_t>& value, std::uint32_t old) const;

    const unsigned threads_;
    const unsigned spins_;
    const Task* task_ = nullptr;
    std::unique_ptr<Share[]> shares_;
    alignas(64) std::atomic<std::uint32_t> epoch_{0};       // counts calls of run()
    alignas(64) std::atomic<std::uint32_t> gate_{kClosed};  // and how many workers are inside
    std::atomic<bool> stopping_{false};
    std::vector<std::thread> workers_;
};

}  // namespace lockstep::engine
