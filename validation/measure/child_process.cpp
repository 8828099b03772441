// SPDX-License-Identifier: Apache-2.0
// The driver is loaded in children alone: a process that forks must not have started it.
#include "validation/measure/child_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "sim/error/error.h"
#include "sim/process/child_work.h"
#include "validation/measure/driver.h"

namespace lockstep::validation {

std::string in_child(const std::filesystem::path& file, unsigned timeout,
                     const std::function<std::string()>& work) {
    std::filesystem::remove(file);
    const pid_t child = fork();
    LOCKSTEP_CHECK(child >= 0, "fork failed");
    if (child == 0) {
        std::string text;
        const int status = process::do_in_child(work, text);
        std::ofstream(file, std::ios::binary) << text;
        _exit(status);  // the driver's own handlers may hang after a fault
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(timeout);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > end) {
            kill(child, SIGKILL);
            // A process that hangs inside the driver may never end.
            for (int i = 0; i < 1000 && waitpid(child, &status, WNOHANG) == 0; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            throw InputError(fmt::format("did not end within {} seconds", timeout));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::string text;
    if (std::ifstream stream(file, std::ios::binary); stream)
        text.assign(std::istreambuf_iterator<char>(stream), {});
    std::filesystem::remove(file);
    if (WIFSIGNALED(status)) throw InputError(fmt::format("ended by signal {}", WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) throw InputError(text);
    return text;
}

Keeper::Keeper(const std::string& library) : child_(fork()) {
    if (child_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        const auto driver = Driver::load(library);
        CuContext* context = nullptr;
        CuDevice device = 0;
        driver->device(&device, 0);
        // A GPU that takes one process alone must be left to the others.
        if (driver->attribute_or_0(kCuComputeMode, device) != kCuExclusiveProcess) {
            driver->retain_context(&context, device);
            while (true) pause();
        }
    } catch (const Error&) {
    }
    _exit(0);
}

Keeper::~Keeper() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
}

}  // namespace lockstep::validation
