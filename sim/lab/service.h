// SPDX-License-Identifier: Apache-2.0
// What labs run on the real models: a process a request, no more at a time than there are cores.
// The same request has the same answer always, so that answers are kept.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "sim/error/error.h"
#include "sim/lab/child.h"
#include "sim/lab/run_request.h"
#include "workloads/sweep/result.h"

namespace lockstep::lab {

/// More requests at a time than are let wait.
class Busy : public Error {
  public:
    Busy() : Error(ExitStatus::kInputError, "too many runs at a time; try again in a moment") {}
};

struct RunAnswer {
    std::string screen;      ///< what the program printed
    std::string statistics;  ///< the file of --stats
};

class Service {
  public:
    /// `program`: the path of lockstep. `processes` at a time; 0: as there are cores.
    explicit Service(std::string program, unsigned processes = 0, ChildLimits limits = {});

    /// Throws InputError with the program's message, or where a limit was passed; Busy.
    RunAnswer run(const RunRequest& request);
    /// The metrics of a run, those of its steps together.
    sweep::Result metrics(const std::string& run);
    /// Of widgets/widgets.h: JSON in, JSON out. Throws InputError with what is wrong in `request`.
    std::string widget(const std::string& name, const std::string& request);
    /// A lab's own command: what it prints. In the repository's root where there is one, for labs
    /// name files of it; what it writes is lost.
    ChildResult command(const std::string& text);

    /// Ends what runs, and refuses what comes.
    void stop();

  private:
    class Turn;
    ChildResult child(const std::vector<std::string>& words, const std::string& input,
                      const std::string& folder);
    bool find(const std::string& key, std::string& value);
    void keep(const std::string& key, const std::string& value);

    const std::string program_;
    const unsigned processes_;
    const ChildLimits limits_;
    std::atomic<bool> is_stopped_ = false;
    std::mutex mutex_;
    std::condition_variable turn_;
    unsigned running_ = 0, waiting_ = 0;
    std::map<std::string, std::string> kept_;
    std::size_t kept_bytes_ = 0;
};

}  // namespace lockstep::lab
