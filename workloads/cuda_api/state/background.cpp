// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/state/background.h"

#include <filesystem>

namespace lockstep::cuda {
namespace {

using namespace std::chrono_literals;

/// A program that has not called for so long waits for something, or computes.
constexpr auto kGrace = 500ms;
constexpr auto kPause = 50ms;

}  // namespace

Background::Background(std::function<void()> work)
    : work_(std::move(work)), thread_([this] { run(); }) {}

Background::~Background() {
    {
        const std::lock_guard guard(mutex_);
        stops_ = true;
    }
    stop_.notify_all();
    thread_.join();
}

void Background::run() {
    std::unique_lock lock(mutex_);
    while (!stop_.wait_for(lock, kPause, [this] { return stops_; })) {
        if (Clock::now() - last_call_.load() < kGrace) continue;
        lock.unlock();
        work_();
        lock.lock();
    }
}

int other_threads(int ours) {
    int count = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
        (void)entry;
        ++count;
    }
    return count - ours;
}

}  // namespace lockstep::cuda
