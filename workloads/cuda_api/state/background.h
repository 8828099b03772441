// SPDX-License-Identifier: Apache-2.0
// What goes on while the program does not call: a thread that lets the device go on when the
// program has been silent for a while, for it may wait for memory that the device writes.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace lockstep::cuda {

class Background {
  public:
    /// `work` is called now and then while the program is silent; it takes the locks that it needs
    /// and comes back soon.
    explicit Background(std::function<void()> work);
    ~Background();

    /// The program has called.
    void note_call() { last_call_ = Clock::now(); }

  private:
    using Clock = std::chrono::steady_clock;
    void run();

    const std::function<void()> work_;
    std::atomic<Clock::time_point> last_call_ = Clock::now();
    std::mutex mutex_;
    std::condition_variable stop_;
    bool stops_ = false;
    std::thread thread_;
};

/// Threads of the process but `ours`.
int other_threads(int ours);

}  // namespace lockstep::cuda
