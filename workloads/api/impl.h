// SPDX-License-Identifier: Apache-2.0
// What the parts of the library share: machines inside, and errors on the way out.
#pragma once

#include <lockstep/lockstep.h>

#include <new>
#include <utility>

#include "models/device.h"
#include "sim/error/error.h"
#include "workloads/run/job.h"

namespace lockstep::api {

struct Machine::Impl {
    std::string file;  ///< or name
    std::vector<std::string> overrides;
    run::MachinePtr machine;
};

struct Device::Impl {
    run::MachinePtr machine;
    bool has_chip = false;  ///< of which a process simulates one at a time
    std::unique_ptr<lockstep::Device> device;
    ~Impl();
};

/// Does the work and lets what goes wrong out as an Error of the library's.
template <typename Work>
auto guarded(const Work& work) -> decltype(work()) {
    try {
        return work();
    } catch (const lockstep::Error& error) {
        throw Error(static_cast<int>(error.status()), error.what());
    } catch (const std::bad_alloc&) {
        throw Error(static_cast<int>(ExitStatus::kInputError),
                    "this needs more memory than the system gives");
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw Error(static_cast<int>(ExitStatus::kInternalError), error.what());
    }
}

/// Held while a chip is simulated in this process. Throws InputError where one is.
class ChipTurn {
  public:
    explicit ChipTurn(bool is_needed) : is_held_(is_needed) {
        if (is_held_) take();
    }
    ~ChipTurn() {
        if (is_held_) give();
    }
    ChipTurn(const ChipTurn&) = delete;
    ChipTurn& operator=(const ChipTurn&) = delete;
    static void take();
    static void give();

  private:
    const bool is_held_;
};

inline sass::Dim3 dim3_of(const Dim3& d) {
    return {d.x, d.y, d.z};
}

Metrics metrics_of(const stats::Metrics& metrics);

}  // namespace lockstep::api
